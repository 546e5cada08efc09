-- Messages whose number a consumer of one subscriber has taken and not popped, in some slots of a ring. Leaves out
-- locked slots, and numbers that the next consumer takes.
-- {table}         the ring's table
-- {spare}         its spare numbers
-- {slot}          column: the slot
-- {turn}          column: the turn
-- {message_id}    column: the message's number
-- {time}          column: when the slot was last written
-- {payload?}      column: the message
-- {unread}        column: subscribers that have not read the message yet
-- :from_slot      look from this slot on
-- :to_slot        up to this one
-- :position       the last number taken by a consumer
-- :min_age_s      minimum seconds since the slot was last written
-- :bit            the bit of the subscriber in it
-- :subscriber     the subscriber
-- :limit          maximum number of rows
-- > number        the message's number
-- > age_s         seconds since it was pushed
-- > payload       its first characters
SELECT TOP (:limit)
    CAST({message_id} AS bigint) AS number,
    CAST(DATEDIFF(DAY, {time!moment}, SYSUTCDATETIME()) * 86400.0
        + DATEDIFF(MILLISECOND, DATEADD(DAY, DATEDIFF(DAY, {time!moment}, SYSUTCDATETIME()), {time!moment}), SYSUTCDATETIME()) / 1000.0 AS float) AS age_s,
    CAST(LEFT(CONVERT(nvarchar(max), {payload?!read}, 1), 200) AS nvarchar(200)) AS payload
FROM {table} WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK)
WHERE {slot} BETWEEN :from_slot AND :to_slot
    AND {message_id} <= :position
    AND {turn} = {message_id} + 1
    AND {time!utc} < DATEADD(SECOND, -CAST(:min_age_s AS int), SYSUTCDATETIME())
    AND {unread} & CAST(:bit AS int) <> 0
    AND {message_id} NOT IN (SELECT s.number FROM {spare} AS s WITH (NOLOCK) WHERE s.side = :subscriber)
ORDER BY {message_id}
