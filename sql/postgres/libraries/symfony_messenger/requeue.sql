-- They are due now, as the library takes those whose time is over.
-- A worker that lives all the same deletes the message when it ends, even while another works on it.
-- {table}    the messages
-- :ids       which, an array as text
-- > id       one that is done
UPDATE {table}
SET delivered_at = NULL
WHERE id = ANY (CAST(:ids AS bigint[])) AND delivered_at IS NOT NULL
RETURNING CAST(id AS text) AS id
