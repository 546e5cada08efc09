-- The messages are deleted, as the library deletes finished jobs.
-- {table}    the jobs
-- :ids       which, an array as text
-- > id       one that is done
DELETE FROM {table}
WHERE id = ANY (CAST(:ids AS bigint[])) AND (locked_at IS NULL OR failed_at IS NOT NULL)
RETURNING CAST(id AS text) AS id
