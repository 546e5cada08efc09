-- The messages are queued and due now, without counting an attempt, as after the library's own requeue, and this is
-- logged.
-- {table}    the jobs
-- {pgqueuer_log}  the log
-- :ids       which, an array as text
-- > id       one that is done
WITH changed AS (
    UPDATE {table}
    SET status = 'queued', execute_after = now(), attempts = 0, updated = now(), queue_manager_id = NULL
    WHERE id = ANY (CAST(:ids AS bigint[])) AND status = 'failed'
    RETURNING id, entrypoint, priority
)
INSERT INTO {pgqueuer_log} (job_id, status, entrypoint, priority)
SELECT id, 'queued', entrypoint, priority FROM changed
RETURNING CAST(job_id AS text) AS id
