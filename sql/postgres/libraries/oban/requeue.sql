-- The messages are available and have an attempt left, as after a rescue by the library's lifeline.
-- {table}    the jobs
-- :ids       which, an array as text
-- > id       one that is done
UPDATE {table}
SET state = 'available',
    max_attempts = greatest(max_attempts, attempt + 1),
    meta = meta || jsonb_build_object('rescued', coalesce(CAST(meta ->> 'rescued' AS int), 0) + 1)
WHERE id = ANY (CAST(:ids AS bigint[])) AND state = 'executing'
RETURNING CAST(id AS text) AS id
