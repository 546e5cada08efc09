-- The same as group_states, if the queue is in another table: rows are counted by their reference to the row of the
-- queue, and the queue's name is read once per reference.
-- {table}     the group's table
-- {by}        column of the row that refers to it
-- {by_name}   that column's name
-- {queue}     column of the row that it refers to: the queue
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
    CAST(sum(r.counted) AS bigint) AS counted,
    CAST(extract(epoch FROM clock_timestamp() - min(r.since)) AS float8) AS oldest_s,
    CAST(sum(r.late) AS bigint) AS late,
    CAST(sum(r.timed) AS bigint) AS timed
FROM (
    SELECT {queue!text} AS queue, q.qmon_counted AS counted, q.qmon_since AS since, q.qmon_late AS late, q.qmon_timed AS timed
    FROM (
        SELECT
            g.qmon_by AS {by_name},
            count(*) AS qmon_counted,
            min(g.qmon_since) AS qmon_since,
            count(*) FILTER (WHERE g.qmon_late) AS qmon_late,
            count(*) FILTER (WHERE g.qmon_timed) AS qmon_timed
        FROM (
            SELECT
                {by} AS qmon_by,
                {since?!moment} AS qmon_since,
                ({late!where}) AS qmon_late,
                ({timed!where}) AS qmon_timed
            FROM {table} AS q
            WHERE {rows!where}
        ) AS g
        GROUP BY g.qmon_by
    ) AS q
) AS r
GROUP BY r.queue
ORDER BY counted DESC, r.queue
LIMIT CAST(:limit AS int)
