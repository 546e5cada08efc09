-- The messages are unlocked, as the library unlocks the jobs of a worker that ends; no attempt is counted.
-- If the old worker is still alive, it deletes the job when it ends, even if another worker is working on the job.
-- {table}    the jobs
-- :ids       which, an array as text
-- > id       one that is done
UPDATE {table}
SET locked_at = NULL, locked_by = NULL
WHERE id = ANY (CAST(:ids AS bigint[])) AND locked_at IS NOT NULL AND failed_at IS NULL
RETURNING CAST(id AS text) AS id
