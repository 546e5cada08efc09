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
SELECT TOP (CAST(:limit AS int))
    CAST(:state AS nvarchar(100)) AS state,
    r.qmon_queue AS queue,
    COALESCE(SUM(r.qmon_counted), 0) AS counted,
    CAST(
        DATEDIFF(DAY, MIN(r.qmon_at), SYSUTCDATETIME()) * 86400.0
        + DATEDIFF(MILLISECOND, DATEADD(DAY, DATEDIFF(DAY, MIN(r.qmon_at), SYSUTCDATETIME()), MIN(r.qmon_at)), SYSUTCDATETIME()) / 1000.0
    AS float) AS oldest_s,
    COALESCE(SUM(r.qmon_late), 0) AS late,
    COALESCE(SUM(r.qmon_timed), 0) AS timed
FROM (
    SELECT {queue!text} AS qmon_queue, q.qmon_counted, q.qmon_at, q.qmon_late, q.qmon_timed
    FROM (
        SELECT
            g.qmon_by AS {by_name},
            COUNT_BIG(*) AS qmon_counted,
            MIN(g.qmon_at) AS qmon_at,
            COUNT_BIG(CASE WHEN g.qmon_late = 1 THEN 1 END) AS qmon_late,
            COUNT_BIG(CASE WHEN g.qmon_timed = 1 THEN 1 END) AS qmon_timed
        FROM (
            SELECT
                {by} AS qmon_by,
                {since?!moment} AS qmon_at,
                CASE WHEN {late!where} THEN 1 ELSE 0 END AS qmon_late,
                CASE WHEN {timed!where} THEN 1 ELSE 0 END AS qmon_timed
            FROM {table} AS q
            WHERE {rows!where}
        ) AS g
        GROUP BY g.qmon_by
    ) AS q
) AS r
GROUP BY r.qmon_queue
ORDER BY SUM(r.qmon_counted) DESC, r.qmon_queue
OPTION (MAXDOP 1)
