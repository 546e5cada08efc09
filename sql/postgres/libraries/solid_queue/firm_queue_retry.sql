-- The messages are ready again, without counting an attempt, as after the library's own retry.
-- {table}    the jobs
-- {failed_executions}  those that failed for good
-- {ready_executions}   the messages that workers take
-- :ids       which, an array as text
-- > id       one that is done
WITH failure AS (
    DELETE FROM {failed_executions} WHERE job_id = ANY (CAST(:ids AS bigint[])) RETURNING job_id
), job AS (
    UPDATE {table} AS j
    SET attempts = 0, finished_at = NULL, updated_at = timezone('UTC', now())
    FROM failure AS f
    WHERE j.id = f.job_id
    RETURNING j.id, j.queue_name, j.priority
)
INSERT INTO {ready_executions} (job_id, queue_name, priority, created_at)
SELECT id, queue_name, priority, timezone('UTC', now()) FROM job
RETURNING CAST(job_id AS text) AS id
