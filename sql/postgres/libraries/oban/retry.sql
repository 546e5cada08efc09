-- The messages are available now and have an attempt left, as after the library's own retry.
-- {table}    the jobs
-- :ids       which, an array as text
-- > id       one that is done
UPDATE {table}
SET state = 'available',
    max_attempts = greatest(max_attempts, attempt + 1),
    scheduled_at = timezone('UTC', now()),
    completed_at = NULL,
    cancelled_at = NULL,
    discarded_at = NULL,
    meta = jsonb_set(meta, ARRAY['uniq_bmp'], '[]')
WHERE id = ANY (CAST(:ids AS bigint[])) AND state = 'discarded'
RETURNING CAST(id AS text) AS id
