-- The messages are queued now; this counts as an attempt (retry_job).
-- {table}    the jobs
-- :ids       which, an array as text
-- > id       one that is done
WITH job AS MATERIALIZED (
    SELECT id
    FROM {table}
    WHERE id = ANY (CAST(:ids AS uuid[])) AND finished_at IS NOT NULL AND error IS NOT NULL
), free AS MATERIALIZED (
    -- as the library locks the job that it changes
    SELECT id
    FROM job
    WHERE pg_try_advisory_xact_lock(CAST(CAST('x' || substr(md5('good_jobs-' || id), 1, 16) AS bit(64)) AS bigint))
), changed AS (
    UPDATE {table} AS j
    SET serialized_params = j.serialized_params || jsonb_build_object(
            'executions', coalesce(CAST(j.serialized_params ->> 'executions' AS integer), 0) + 1,
            'enqueued_at', to_char(timezone('UTC', now()), 'YYYY-MM-DD"T"HH24:MI:SS.US000"Z"')
        ),
        scheduled_at = timezone('UTC', now()),
        performed_at = NULL,
        finished_at = NULL,
        error_event = 3,
        updated_at = timezone('UTC', now())
    FROM free AS f
    WHERE j.id = f.id
    RETURNING j.id
)
SELECT CAST(id AS text) AS id FROM changed
