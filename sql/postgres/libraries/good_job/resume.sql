-- Workers take jobs from this queue again.
-- {good_job_settings}  the library's settings
-- :queue     the queue
-- > queue    the queue; no row if it was not paused
UPDATE {good_job_settings}
SET value = jsonb_set(value, ARRAY['queues'], (value -> 'queues') - CAST(:queue AS text)),
    updated_at = timezone('UTC', now())
WHERE key = 'pauses' AND value -> 'queues' @> jsonb_build_array(CAST(:queue AS text))
RETURNING CAST(:queue AS text) AS queue
