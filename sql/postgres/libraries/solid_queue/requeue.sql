-- The messages are ready again, and their claims are deleted, as the library does if a process has died.
-- {table}    the jobs
-- {claimed_executions}  the claims
-- {ready_executions}    the messages that workers take
-- :ids       which, an array as text
-- > id       one that is done
WITH claim AS (
    DELETE FROM {claimed_executions} WHERE job_id = ANY (CAST(:ids AS bigint[])) RETURNING job_id
)
INSERT INTO {ready_executions} (job_id, queue_name, priority, created_at)
SELECT j.id, j.queue_name, j.priority, timezone('UTC', now())
FROM claim AS c
JOIN {table} AS j ON j.id = c.job_id
WHERE j.finished_at IS NULL
RETURNING CAST(job_id AS text) AS id
