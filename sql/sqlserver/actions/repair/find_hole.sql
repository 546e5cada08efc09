-- Numbers that a producer has taken and whose message is missing, in some slots of a ring. Leaves out locked slots, and
-- numbers that the next producer takes.
-- {table}         the ring's table
-- {spare}         its spare numbers
-- {slot}          column: the slot
-- {turn}          column: the turn
-- {message_id}    column: the message's number
-- {time}          column: time when the slot was last written; in the future if it never was
-- :from_slot      look from this slot on
-- :to_slot        up to this one
-- :position       the last number taken by a producer
-- :min_age_s      minimum seconds since the slot was last written
-- :limit          maximum number of rows
-- > number        the number
-- > age_s         seconds since its slot was last written; NULL if it never was
-- > payload       NULL: there is no message
SELECT TOP (:limit)
    CAST({turn} AS bigint) AS number,
    CAST(CASE WHEN {time!utc} < SYSUTCDATETIME() THEN DATEDIFF(DAY, {time!utc}, SYSUTCDATETIME()) * 86400.0
        + DATEDIFF(MILLISECOND, DATEADD(DAY, DATEDIFF(DAY, {time!utc}, SYSUTCDATETIME()), {time!utc}), SYSUTCDATETIME()) / 1000.0 END AS float) AS age_s,
    CAST(NULL AS nvarchar(200)) AS payload
FROM {table} WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK)
WHERE {slot} BETWEEN :from_slot AND :to_slot
    AND {turn} <= :position
    AND {message_id} IS NULL
    AND ({time!utc} < DATEADD(SECOND, -CAST(:min_age_s AS int), SYSUTCDATETIME()) OR {time!utc} > SYSUTCDATETIME())
    AND {turn} NOT IN (SELECT s.number FROM {spare} AS s WITH (NOLOCK) WHERE s.side = 0)
ORDER BY {turn}
