-- Blockers of a group's blocked messages, by queue. Reads a limited number of messages.
-- {table}     the group's table
-- {queue?}    column: the queue
-- {blocker}   column: name of the blocker
-- {holder?}   column: holder of the blocker
-- {held?}     column: time when it was taken
-- {rows!where}     condition: the row is in this state
-- :limit      messages to read at most
-- :most       rows to return at most, the most frequent blockers
-- > queue     the queue, NULL if the table has only one
-- > blocker   name of the blocker
-- > holder    its holder
-- > held_s    seconds that it has been held; NULL if that is unknown
-- > seen      messages read that wait for it
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
