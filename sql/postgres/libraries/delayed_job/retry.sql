-- The messages are due now, with 0 attempts.
-- {table}    the jobs
-- :ids       which, an array as text
-- > id       one that is done
UPDATE {table}
SET failed_at = NULL, attempts = 0, run_at = timezone('UTC', now()), locked_at = NULL, locked_by = NULL
WHERE id = ANY (CAST(:ids AS bigint[])) AND failed_at IS NOT NULL
RETURNING CAST(id AS text) AS id
