-- They are due now, as the library takes those whose time is over; the attempt counts.
-- A worker that lives all the same deletes the job when it ends, even while another works on it.
-- {table}    the jobs
-- :ids       which, an array as text
-- > id       one that is done
UPDATE {table}
SET reserved_at = NULL, available_at = CAST(floor(extract(epoch FROM now())) AS integer)
WHERE id = ANY (CAST(:ids AS bigint[])) AND reserved_at IS NOT NULL
RETURNING CAST(id AS text) AS id
