-- The messages are deleted, as by the library's own JobDelete.
-- {table}    the jobs
-- :ids       which, an array as text
-- > id       one that is done
DELETE FROM {table}
WHERE id = ANY (CAST(:ids AS bigint[])) AND state IN ('available', 'scheduled', 'retryable', 'discarded')
RETURNING CAST(id AS text) AS id
