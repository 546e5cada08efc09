-- The number of steps of one kind within some seconds, for each queue of a group, by an index on the time.
-- {log}       the table whose rows have that time
-- {at}        column: when it was
-- {queue}     column: the queue
-- {rows!where}     condition: the row is such a step
-- :step       name of the step
-- :after_ms   later than this: milliseconds since the epoch
-- :until_ms   and up to this
-- > step      the same
-- > queue     the queue
-- > counted   steps
SELECT
    CAST(:step AS nvarchar(100)) AS step,
    CONVERT(nvarchar(450), q.{queue}) AS queue,
    COUNT_BIG(*) AS counted
FROM {log} AS q
WHERE q.{at} > DATEADD(MILLISECOND, CAST(:after_ms AS bigint) % 86400000,
        DATEADD(DAY, CAST(:after_ms AS bigint) / 86400000, CAST('1970-01-01T00:00:00' AS datetime2(3))))
    AND q.{at} <= DATEADD(MILLISECOND, CAST(:until_ms AS bigint) % 86400000,
        DATEADD(DAY, CAST(:until_ms AS bigint) / 86400000, CAST('1970-01-01T00:00:00' AS datetime2(3))))
    AND {rows!where}
GROUP BY q.{queue}
OPTION (MAXDOP 1)
