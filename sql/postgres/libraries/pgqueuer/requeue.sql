-- The messages are queued and due now, as another attempt, and this is logged.
-- If the old worker is still alive, it deletes the job when it ends.
-- {table}    the jobs
-- {pgqueuer_log}  the log
-- :ids       which, an array as text
-- > id       one that is done
WITH changed AS (
    UPDATE {table}
    SET status = 'queued', execute_after = now(), attempts = attempts + 1, updated = now(), queue_manager_id = NULL
    WHERE id = ANY (CAST(:ids AS bigint[])) AND status = 'picked'
    RETURNING id, entrypoint, priority
)
INSERT INTO {pgqueuer_log} (job_id, status, entrypoint, priority)
SELECT id, 'queued', entrypoint, priority FROM changed
RETURNING CAST(job_id AS text) AS id
