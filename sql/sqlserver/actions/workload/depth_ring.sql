-- The exact number of messages in a ring, read once when a load begins. Without locks.
-- {table}      the ring
-- {message_id} column: the message in the slot, NULL if it is empty
-- > depth      messages
SELECT COUNT_BIG(*) AS depth
FROM {table} WITH (NOLOCK)
WHERE {message_id} IS NOT NULL
OPTION (MAXDOP 1)
