-- Waiting jobs become discarded jobs (discard_job); discarded jobs are deleted with their attempts (destroy_job). Jobs
-- of a batch stay. Jobs that a worker holds by an advisory lock also stay.
-- {table}    the jobs
-- {good_job_executions}  each attempt of each
-- :ids       which, an array as text
-- > id       one that is done
WITH job AS MATERIALIZED (
    SELECT id, finished_at
    FROM {table}
    WHERE id = ANY (CAST(:ids AS uuid[]))
      AND (performed_at IS NULL OR finished_at IS NOT NULL)
      AND batch_id IS NULL
), free AS MATERIALIZED (
    -- as the library locks the job that it changes
    SELECT id, finished_at
    FROM job
    WHERE pg_try_advisory_xact_lock(CAST(CAST('x' || substr(md5('good_jobs-' || id), 1, 16) AS bit(64)) AS bigint))
), attempts AS (
    DELETE FROM {good_job_executions} AS e USING free AS f WHERE e.active_job_id = f.id AND f.finished_at IS NOT NULL
), gone AS (
    DELETE FROM {table} AS j USING free AS f WHERE j.id = f.id AND f.finished_at IS NOT NULL RETURNING j.id
), changed AS (
    UPDATE {table} AS j
    SET finished_at = timezone('UTC', now()),
        error = 'GoodJob::Job::DiscardJobError: Discarded by qmon',
        error_event = 5,
        updated_at = timezone('UTC', now())
    FROM free AS f
    WHERE j.id = f.id AND f.finished_at IS NULL
    RETURNING j.id
)
SELECT CAST(id AS text) AS id FROM (TABLE gone UNION ALL TABLE changed) AS done
