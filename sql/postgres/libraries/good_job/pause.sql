-- Workers take no more jobs from this queue if their setting enable_pauses is true (the default is false).
-- {good_job_settings}  the library's settings
-- :queue     the queue
-- > queue    the queue; no row if it was already paused
INSERT INTO {good_job_settings} AS s (id, key, value, created_at, updated_at)
VALUES (
    gen_random_uuid(),
    'pauses',
    jsonb_build_object(
        'queues', jsonb_build_array(CAST(:queue AS text)), 'job_classes', jsonb_build_array(), 'labels', jsonb_build_array()
    ),
    timezone('UTC', now()),
    timezone('UTC', now())
)
ON CONFLICT (key) DO UPDATE
SET value = jsonb_set(
        s.value, ARRAY['queues'], coalesce(s.value -> 'queues', '[]') || jsonb_build_array(CAST(:queue AS text))
    ),
    updated_at = excluded.updated_at
WHERE NOT coalesce(s.value -> 'queues' @> jsonb_build_array(CAST(:queue AS text)), false)
RETURNING CAST(:queue AS text) AS queue
