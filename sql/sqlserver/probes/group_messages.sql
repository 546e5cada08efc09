-- Messages of one queue of a group that are in one state, the oldest first.
-- {table}     the group's table
-- {id}        column: the id
-- {queue?}    column: the queue
-- {since?}    column: the time that the age is counted from
-- {owner?}    column: its consumer
-- {attempts?} column: number of pops
-- {payload?}  column: the message
-- {error?}    column: its last error
-- {rows!where}     condition: the row is in this state
-- :state      name of the state
-- :queue      the queue, NULL for the whole table
-- :limit      maximum number of rows
-- > id        id as text
-- > state     the same
-- > age_s     its age in seconds
-- > owner     its consumer
-- > attempts  number of pops
-- > payload   its first characters; only its size if it is large
-- > error     the end of its last error
SELECT TOP (CAST(:limit AS int))
    r.qmon_id AS id,
    CAST(:state AS nvarchar(100)) AS state,
    CAST(
        DATEDIFF(DAY, r.qmon_at, SYSUTCDATETIME()) * 86400.0
        + DATEDIFF(MILLISECOND, DATEADD(DAY, DATEDIFF(DAY, r.qmon_at, SYSUTCDATETIME()), r.qmon_at), SYSUTCDATETIME()) / 1000.0
    AS float) AS age_s,
    r.qmon_owner AS owner,
    r.qmon_attempts AS attempts,
    CAST(r.qmon_payload AS nvarchar(400)) AS payload,
    CAST(r.qmon_error AS nvarchar(400)) AS error
FROM (
    SELECT
        {id!text} AS qmon_id,
        {queue?!text} AS qmon_queue,
        {since?!moment} AS qmon_at,
        RTRIM(CONVERT(nvarchar(400), {owner?})) AS qmon_owner,
        CAST({attempts?} AS int) AS qmon_attempts,
        CASE
            WHEN DATALENGTH({payload?}) > 65536 THEN CONVERT(nvarchar(20), DATALENGTH({payload?}) / 1024) + N' kB'
            ELSE LEFT(CONVERT(nvarchar(max), {payload?!read}, 1), 200)
        END AS qmon_payload,
        {error?!newest} AS qmon_error
    FROM {table} AS q
    WHERE {rows!where}
) AS r
WHERE CAST(:queue AS nvarchar(450)) IS NULL OR r.qmon_queue = CAST(:queue AS nvarchar(450))
ORDER BY CASE WHEN r.qmon_at IS NULL THEN 1 ELSE 0 END, r.qmon_at
OPTION (MAXDOP 1)
