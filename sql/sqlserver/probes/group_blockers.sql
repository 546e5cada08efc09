-- What the blocked messages of a group wait for, for each of its queues. Only a bounded number of them is looked at.
-- {table}     the group's table
-- {queue?}    column: the queue
-- {blocker}   column: what the message waits for
-- {holder?}   column: who holds that
-- {held?}     column: since when
-- {rows!where}     condition: the row is in this state
-- :limit      look at so many messages at most
-- :most       return so many rows at most, those that most messages wait for
-- > queue     the queue, NULL where the table holds one
-- > blocker   what they wait for
-- > holder    who holds it
-- > held_s    for how long, in seconds; NULL if that is not known
-- > seen      messages that wait for it, of those looked at
SELECT TOP (CAST(:most AS int))
    r.qmon_queue AS queue,
    r.qmon_blocker AS blocker,
    r.qmon_holder AS holder,
    CAST(
        DATEDIFF(DAY, MIN(r.qmon_at), SYSUTCDATETIME()) * 86400.0
        + DATEDIFF(MILLISECOND, DATEADD(DAY, DATEDIFF(DAY, MIN(r.qmon_at), SYSUTCDATETIME()), MIN(r.qmon_at)), SYSUTCDATETIME()) / 1000.0
    AS float) AS held_s,
    COUNT_BIG(*) AS seen
FROM (
    SELECT TOP (CAST(:limit AS int))
        {queue?!text} AS qmon_queue,
        {blocker!text} AS qmon_blocker,
        RTRIM(CONVERT(nvarchar(400), {holder?})) AS qmon_holder,
        {held?!utc} AS qmon_at
    FROM {table} AS q
    WHERE {rows!where}
) AS r
GROUP BY r.qmon_queue, r.qmon_blocker, r.qmon_holder
ORDER BY COUNT_BIG(*) DESC, r.qmon_queue, r.qmon_blocker, r.qmon_holder
OPTION (MAXDOP 1)
