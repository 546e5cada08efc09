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
SELECT TOP (CAST(:limit AS int))
    CAST(:state AS nvarchar(100)) AS state,
    r.qmon_queue AS queue,
    COUNT_BIG(*) AS counted,
    CAST(
        DATEDIFF(DAY, MIN(r.qmon_at), SYSUTCDATETIME()) * 86400.0
        + DATEDIFF(MILLISECOND, DATEADD(DAY, DATEDIFF(DAY, MIN(r.qmon_at), SYSUTCDATETIME()), MIN(r.qmon_at)), SYSUTCDATETIME()) / 1000.0
    AS float) AS oldest_s,
    COUNT_BIG(CASE WHEN r.qmon_late = 1 THEN 1 END) AS late,
    COUNT_BIG(CASE WHEN r.qmon_timed = 1 THEN 1 END) AS timed
FROM (
    SELECT
        {queue?!text} AS qmon_queue,
        {since?!moment} AS qmon_at,
        CASE WHEN {late!where} THEN 1 ELSE 0 END AS qmon_late,
        CASE WHEN {timed!where} THEN 1 ELSE 0 END AS qmon_timed
    FROM {table} AS q
    WHERE {rows!where}
) AS r
GROUP BY r.qmon_queue
ORDER BY COUNT_BIG(*) DESC, r.qmon_queue
OPTION (MAXDOP 1)
