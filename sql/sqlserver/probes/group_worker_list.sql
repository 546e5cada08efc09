-- The active workers of a library. They are read while a screen shows the consumers of one of its queues.
-- {table}     the table of workers
-- {name}      column: the name by which messages refer to their worker
-- {host?}     column: the worker's machine
-- {started?}  column: when it started
-- {queue?}    column: the queue
-- {rows!where}     condition: the worker has been heard of lately
-- :limit      maximum number of workers
-- > worker    that name
-- > host      its machine
-- > started_s seconds since it started
-- > queue     the queue, NULL if the row does not contain it
SELECT TOP (CAST(:limit AS int))
    COALESCE({name!text}, N'') AS worker,
    {host?!text} AS host,
    CAST(
        DATEDIFF(DAY, r.qmon_at, SYSUTCDATETIME()) * 86400.0
        + DATEDIFF(MILLISECOND, DATEADD(DAY, DATEDIFF(DAY, r.qmon_at, SYSUTCDATETIME()), r.qmon_at), SYSUTCDATETIME()) / 1000.0
    AS float) AS started_s,
    {queue?!text} AS queue
FROM {table} AS q
CROSS APPLY (SELECT {started?!moment} AS qmon_at) AS r
WHERE {rows!where}
OPTION (MAXDOP 1)
