-- The exact number of messages of a ring that each subscriber has not read yet, read once when a load begins.
-- {table}      the ring
-- {unread}     column: subscribers that have not read it yet, subscriber k as bit k - 1
-- {message_id} column: the message in the slot, NULL if it is empty
-- :subscribers number of subscribers
-- > depth      messages, in the order of subscribers
SELECT count(t.slot_is_taken) AS depth
FROM generate_series(1, CAST(:subscribers AS integer)) AS s(number)
LEFT JOIN (
    SELECT {unread} AS unread, true AS slot_is_taken
    FROM {table}
    WHERE {message_id} IS NOT NULL
) AS t ON CAST(t.unread AS bigint) & (CAST(1 AS bigint) << (s.number - 1)) <> 0
GROUP BY s.number
ORDER BY s.number
