-- The messages are deleted, and this is logged; an undo does not remove the log entries.
-- {table}    the jobs
-- {pgqueuer_log}  the log
-- :ids       which, an array as text
-- > id       one that is done
WITH gone AS (
    DELETE FROM {table}
    WHERE id = ANY (CAST(:ids AS bigint[])) AND status IN ('queued', 'failed')
    RETURNING id, entrypoint, priority
)
INSERT INTO {pgqueuer_log} (job_id, status, entrypoint, priority)
SELECT id, 'deleted', entrypoint, priority FROM gone
RETURNING CAST(job_id AS text) AS id
