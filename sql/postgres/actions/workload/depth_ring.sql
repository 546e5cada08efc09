-- The exact number of messages in a ring, read once when a load begins.
-- {table}      the ring
-- {message_id} column: the message in the slot, NULL if it is empty
-- > depth      messages
SELECT count(*) AS depth
FROM {table} AS q
WHERE {message_id} IS NOT NULL
