-- The messages are due now, as after the library's timeout; the attempt counts.
-- If the old worker is still alive, it deletes the job when it ends, even if another worker is working on the job.
-- {table}    the jobs
-- :ids       which, an array as text
-- > id       one that is done
UPDATE {table}
SET reserved_at = NULL, available_at = CAST(floor(extract(epoch FROM now())) AS integer)
WHERE id = ANY (CAST(:ids AS bigint[])) AND reserved_at IS NOT NULL
RETURNING CAST(id AS text) AS id
