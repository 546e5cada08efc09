-- The messages are deleted, as the library's own delete removes jobs that are not executing.
-- {table}    the jobs
-- :ids       which, an array as text
-- > id       one that is done
DELETE FROM {table}
WHERE id = ANY (CAST(:ids AS bigint[])) AND state NOT IN ('executing', 'completed', 'cancelled')
RETURNING CAST(id AS text) AS id
