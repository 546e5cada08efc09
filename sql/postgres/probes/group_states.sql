-- The messages of a group in one state, for each of its queues.
-- {table}     the group's table
-- {queue?}    column: the queue
-- {since?}    column: the time that the age is counted from
-- {rows!where}     condition: the row is in this state
-- {late!where}    condition: it has been so for too long
-- :state      what the state is called
-- :limit      so many queues at most, those with most messages
-- > state     the same
-- > queue     the queue, NULL where the table holds one
-- > counted   messages
-- > oldest_s  age of the oldest in seconds
-- > late      how many have been so for too long
SELECT
    CAST(:state AS text) AS state,
    r.queue,
    CAST(count(*) AS bigint) AS counted,
    CAST(extract(epoch FROM clock_timestamp() - min(r.since)) AS float8) AS oldest_s,
    CAST(count(*) FILTER (WHERE r.late) AS bigint) AS late
FROM (
    SELECT {queue?!text} AS queue, {since?!moment} AS since, ({late!where}) AS late
    FROM {table} AS q
    WHERE {rows!where}
) AS r
GROUP BY r.queue
ORDER BY counted DESC, r.queue
LIMIT CAST(:limit AS int)
