-- The owners of a group's messages in progress, the longest-running first.
-- {table}     the group's table
-- {id}        column: the id
-- {queue?}    column: the queue
-- {since?}    column: time when it was popped
-- {owner?}    column: its consumer
-- {attempts?} column: number of pops
-- {error?}    column: its last error
-- {rows!where}     condition: the row is in progress
-- {gone!where}    condition: its consumer is dead
-- :proves     whether that condition is there
-- :limit      maximum number of rows
-- > id        id as text
-- > owner     its consumer, from the row
-- > owner_state  dead, alive, unknown; none without an owner
-- > attempts  number of pops
-- > age_s     seconds since it was popped
-- > error     the end of its last error, if it was popped before
-- > queue     the queue, NULL if the table has only one
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
    CAST(r.qmon_error AS nvarchar(400)) AS error,
    r.qmon_queue AS queue
FROM (
    SELECT
        {queue?!text} AS qmon_queue,
        {id!text} AS qmon_id,
        RTRIM(CONVERT(nvarchar(400), {owner?})) AS qmon_owner,
        CASE WHEN {gone!where} THEN 1 ELSE 0 END AS qmon_gone,
        CAST({attempts?} AS int) AS qmon_attempts,
        {since?!moment} AS qmon_at,
        CASE WHEN CAST({attempts?} AS int) > 1 THEN {error?!newest} END AS qmon_error
    FROM {table} AS q
    WHERE {rows!where}
) AS r
ORDER BY CASE WHEN r.qmon_at IS NULL THEN 1 ELSE 0 END, r.qmon_at
OPTION (MAXDOP 1)
