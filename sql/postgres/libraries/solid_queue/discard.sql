-- The messages are deleted, as by the library's own discard. Messages with a concurrency limit stay: use the library's
-- own tools.
-- {table}    the jobs
-- {ready_executions}      the messages that workers take
-- {scheduled_executions}  messages that are due later
-- {failed_executions}     those that failed for good
-- :ids       which, an array as text
-- > id       one that is done
WITH job AS (
    SELECT id FROM {table} WHERE id = ANY (CAST(:ids AS bigint[])) AND concurrency_key IS NULL
), waiting AS (
    -- A worker may be about to take one that is ready, and waits for the job that we have locked.
    SELECT job_id FROM {ready_executions} WHERE job_id IN (SELECT id FROM job) FOR UPDATE SKIP LOCKED
), ready AS (
    DELETE FROM {ready_executions} WHERE job_id IN (SELECT job_id FROM waiting) RETURNING job_id
), scheduled AS (
    DELETE FROM {scheduled_executions} WHERE job_id IN (SELECT id FROM job) RETURNING job_id
), failed AS (
    DELETE FROM {failed_executions} WHERE job_id IN (SELECT id FROM job) RETURNING job_id
), gone AS (
    DELETE FROM {table} AS j
    USING (TABLE ready UNION ALL TABLE scheduled UNION ALL TABLE failed) AS e
    WHERE j.id = e.job_id
    RETURNING j.id
)
SELECT CAST(id AS text) AS id FROM gone
