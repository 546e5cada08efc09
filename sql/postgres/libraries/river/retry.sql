-- The messages are available now and have an attempt left (JobRetry).
-- {table}    the jobs
-- :ids       which, an array as text
-- > id       one that is done
UPDATE {table}
SET state = 'available',
    max_attempts = greatest(max_attempts, attempt + 1),
    finalized_at = NULL,
    scheduled_at = now()
WHERE id = ANY (CAST(:ids AS bigint[])) AND state = 'discarded'
RETURNING CAST(id AS text) AS id
