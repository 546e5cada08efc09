-- The number of steps of one kind within some seconds, for each queue of a group with such steps. An index on the time,
-- or on queue and time, makes it quick.
-- {log}       the table whose rows have that time
-- {at}        column: when it was
-- {queue}     column: the queue
-- {rows!where}     condition: the row is such a step
-- :step       name of the step
-- :queues     the queues
-- :after_ms   later than this: milliseconds since the epoch
-- :until_ms   and up to this
-- > step      the same
-- > queue     the queue
-- > counted   steps
SELECT
    CAST(:step AS text) AS step,
    CAST(q.{queue} AS text) AS queue,
    CAST(count(*) AS bigint) AS counted
FROM {log} AS q
WHERE CAST(q.{queue} AS text) = ANY(CAST(:queues AS text[]))
    AND q.{at} > to_timestamp(CAST(:after_ms AS float8) / 1000)
    AND q.{at} <= to_timestamp(CAST(:until_ms AS float8) / 1000)
    AND {rows!where}
GROUP BY q.{queue}
