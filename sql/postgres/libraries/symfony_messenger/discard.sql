-- The messages are deleted, as by messenger:failed:remove.
-- {table}    the messages
-- :ids       which, an array as text
-- > id       one that is done
DELETE FROM {table} WHERE id = ANY (CAST(:ids AS bigint[])) AND delivered_at IS NULL RETURNING CAST(id AS text) AS id
