-- The messages of a group in one state, for each of its queues.
-- {table}     the group's table
-- {queue?}    column: the queue
-- {since?}    column: the time that the age is counted from
-- {rows!where}     condition: the row is in this state
-- {late!where}    condition: it has been so for too long
-- {timed!where}   condition: the times that this depends on are known
-- :state      name of the state
-- :limit      maximum number of queues; those with the most messages first
-- > state     the same
-- > queue     the queue, NULL if the table has only one
-- > counted   messages
-- > oldest_s  age of the oldest in seconds
-- > late      number of messages in this state for too long
-- > timed     number of messages for which this is known
SELECT
    CAST(:state AS text) AS state,
    r.queue,
    CAST(count(*) AS bigint) AS counted,
    CAST(extract(epoch FROM clock_timestamp() - min(r.since)) AS float8) AS oldest_s,
    CAST(count(*) FILTER (WHERE r.late) AS bigint) AS late,
    CAST(count(*) FILTER (WHERE r.timed) AS bigint) AS timed
FROM (
    SELECT {queue?!text} AS queue, {since?!moment} AS since, ({late!where}) AS late, ({timed!where}) AS timed
    FROM {table} AS q
    WHERE {rows!where}
) AS r
GROUP BY r.queue
ORDER BY counted DESC, r.queue
LIMIT CAST(:limit AS int)
