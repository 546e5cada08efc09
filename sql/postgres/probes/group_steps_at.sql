-- The number of steps of one kind within some seconds, for each queue of a group, by an index on queue and time.
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
    v.queue,
    (
        SELECT CAST(count(*) AS bigint)
        FROM {log} AS q
        WHERE q.{queue} = v.queue
            AND q.{at} > to_timestamp(CAST(:after_ms AS float8) / 1000)
            AND q.{at} <= to_timestamp(CAST(:until_ms AS float8) / 1000)
            AND {rows!where}
    ) AS counted
FROM unnest(CAST(:queues AS text[])) AS v (queue)
