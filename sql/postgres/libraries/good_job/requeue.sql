-- The messages are queued now, and the current attempt ends as interrupted. Jobs that a worker holds by an advisory
-- lock stay.
-- {table}    the jobs
-- {good_job_executions}  each attempt of each
-- :ids       which, an array as text
-- > id       one that is done
WITH job AS MATERIALIZED (
    SELECT id, performed_at
    FROM {table}
    WHERE id = ANY (CAST(:ids AS uuid[])) AND performed_at IS NOT NULL AND finished_at IS NULL
), free AS MATERIALIZED (
    -- as the library locks the job that it works on
    SELECT id, performed_at
    FROM job
    WHERE pg_try_advisory_xact_lock(CAST(CAST('x' || substr(md5('good_jobs-' || id), 1, 16) AS bit(64)) AS bigint))
), attempt AS (
    UPDATE {good_job_executions} AS e
    SET error = 'GoodJob::InterruptedError: Interrupted after starting perform at ''' || f.performed_at || '''',
        error_event = 0,
        finished_at = timezone('UTC', now()),
        updated_at = timezone('UTC', now())
    FROM free AS f
    WHERE e.active_job_id = f.id AND e.finished_at IS NULL
), changed AS (
    UPDATE {table} AS j
    SET performed_at = NULL, locked_by_id = NULL, locked_at = NULL, updated_at = timezone('UTC', now())
    FROM free AS f
    WHERE j.id = f.id
    RETURNING j.id
)
SELECT CAST(id AS text) AS id FROM changed
