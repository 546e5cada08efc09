-- Who works on the messages of a group that are in progress, the longest-running first.
-- {table}     the group's table
-- {id}        column: the id
-- {queue?}    column: the queue
-- {since?}    column: since when it is in progress
-- {owner?}    column: who works on it
-- {attempts?} column: how often it was popped
-- {rows!where}     condition: the row is in progress
-- {gone!where}    condition: whoever works on it is known to be gone
-- :proves     whether that condition is there
-- :limit      so many at most
-- > id        id as text
-- > owner     who works on it, as the row says
-- > owner_state  dead, alive, unknown; none without an owner
-- > attempts  how often it was popped
-- > age_s     seconds since it was popped
-- > queue     the queue, NULL where the table holds one
SELECT TOP (CAST(:limit AS int))
    r.qmon_id AS id,
    r.qmon_owner AS owner,
    CASE
        WHEN CAST(:proves AS bit) = 1 THEN CASE WHEN r.qmon_gone = 1 THEN 'dead' ELSE 'alive' END
        WHEN r.qmon_owner IS NULL THEN 'none'
        ELSE 'unknown'
    END AS owner_state,
    r.qmon_attempts AS attempts,
    CAST(
        DATEDIFF(DAY, r.qmon_at, SYSUTCDATETIME()) * 86400.0
        + DATEDIFF(MILLISECOND, DATEADD(DAY, DATEDIFF(DAY, r.qmon_at, SYSUTCDATETIME()), r.qmon_at), SYSUTCDATETIME()) / 1000.0
    AS float) AS age_s,
    r.qmon_queue AS queue
FROM (
    SELECT
        {queue?!text} AS qmon_queue,
        {id!text} AS qmon_id,
        RTRIM(CONVERT(nvarchar(400), {owner?})) AS qmon_owner,
        CASE WHEN {gone!where} THEN 1 ELSE 0 END AS qmon_gone,
        CAST({attempts?} AS int) AS qmon_attempts,
        {since?!moment} AS qmon_at
    FROM {table} AS q
    WHERE {rows!where}
) AS r
ORDER BY CASE WHEN r.qmon_at IS NULL THEN 1 ELSE 0 END, r.qmon_at
OPTION (MAXDOP 1)
