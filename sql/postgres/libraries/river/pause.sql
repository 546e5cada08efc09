-- Workers take no more jobs from this queue, but finish the jobs that they have begun.
-- {river_queue}  the queues that workers have taken from
-- :queue     the queue
-- > queue    the queue; no row if it was already paused
WITH changed AS (
    UPDATE {river_queue}
    SET paused_at = now(), updated_at = now()
    WHERE name = :queue AND paused_at IS NULL
    RETURNING name, tableoid
)
-- notify listening workers as the library does; other workers poll
SELECT c.name AS queue
FROM changed AS c
JOIN pg_class AS t ON t.oid = c.tableoid
JOIN pg_namespace AS n ON n.oid = t.relnamespace
CROSS JOIN LATERAL pg_notify(
    n.nspname || '.river_control', CAST(json_build_object('action', 'pause', 'queue', c.name) AS text)
) AS told
