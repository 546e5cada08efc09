-- The messages are due now, as after the library's timeout.
-- If the old worker is still alive, it deletes the message when it ends, even if another worker is working on the
-- message.
-- {table}    the messages
-- :ids       which, an array as text
-- > id       one that is done
UPDATE {table}
SET delivered_at = NULL
WHERE id = ANY (CAST(:ids AS bigint[])) AND delivered_at IS NOT NULL
RETURNING CAST(id AS text) AS id
