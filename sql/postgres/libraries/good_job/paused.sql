-- Whether a queue is paused.
-- {good_job_settings}  the library's settings
-- :queue     the queue
-- > paused   whether it is
SELECT EXISTS (
    SELECT
    FROM {good_job_settings}
    WHERE key = 'pauses' AND value -> 'queues' @> jsonb_build_array(CAST(:queue AS text))
) AS paused
