-- The messages are deleted, as queue:clear deletes a whole queue.
-- {table}    the jobs
-- :ids       which, an array as text
-- > id       one that is done
DELETE FROM {table} WHERE id = ANY (CAST(:ids AS bigint[])) AND reserved_at IS NULL RETURNING CAST(id AS text) AS id
