-- They are unlocked, as the library does with those of a worker that ends; no attempt is counted.
-- A worker that lives all the same deletes the job when it ends, even while another works on it.
-- {table}    the jobs
-- :ids       which, an array as text
-- > id       one that is done
UPDATE {table}
SET locked_at = NULL, locked_by = NULL
WHERE id = ANY (CAST(:ids AS bigint[])) AND locked_at IS NOT NULL AND failed_at IS NULL
RETURNING CAST(id AS text) AS id
