-- Workers take jobs from this queue again.
-- {river_queue}  the queues that workers have taken from
-- :queue     the queue
-- > queue    the queue; no row if it was not paused
WITH changed AS (
    UPDATE {river_queue}
    SET paused_at = NULL, updated_at = now()
    WHERE name = :queue AND paused_at IS NOT NULL
    RETURNING name, tableoid
)
-- notify listening workers as the library does; other workers poll
SELECT c.name AS queue
FROM changed AS c
JOIN pg_class AS t ON t.oid = c.tableoid
JOIN pg_namespace AS n ON n.oid = t.relnamespace
CROSS JOIN LATERAL pg_notify(
    n.nspname || '.river_control', CAST(json_build_object('action', 'resume', 'queue', c.name) AS text)
) AS told
