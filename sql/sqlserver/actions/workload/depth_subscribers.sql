-- The exact number of messages of a ring that each subscriber has not read yet, read once when a load begins. Without
-- locks.
-- {table}      the ring
-- {unread}     column: subscribers that have not read it yet, subscriber k as bit k - 1
-- {message_id} column: the message in the slot, NULL if it is empty
-- :subscribers number of subscribers
-- > depth      messages, in the order of subscribers
WITH subscribers AS (
    SELECT 1 AS number
    UNION ALL
    SELECT s.number + 1
    FROM subscribers AS s
    WHERE s.number < CAST(:subscribers AS int)
)
SELECT COUNT_BIG(t.qmon_unread) AS depth
FROM subscribers AS s
LEFT JOIN (
    SELECT CAST({unread} AS bigint) AS qmon_unread
    FROM {table} WITH (NOLOCK)
    WHERE {message_id} IS NOT NULL
) AS t ON t.qmon_unread & POWER(CAST(2 AS bigint), s.number - 1) <> 0
GROUP BY s.number
ORDER BY s.number
OPTION (MAXDOP 1)
