-- The ready message that has been due longest, of a queue with a state column, and a limited count of due messages.
-- Recompiled for each execution if the index is filtered: only then can the statement use that index.
-- {table}      the queue's table
-- {id?}        column: the id
-- {state}      column: the state
-- {due_at}     column: when it is due
-- {head_index} the index that gives the ready rows in the order of that time
-- :ready       the state value of a ready message
-- :limit       maximum number of rows to read
-- > head_id    id of the message that has been due longest
-- > oldest_s   seconds since it was due
-- > counted    due rows seen, at most :limit
SELECT
    MIN(CASE WHEN s.qmon_place = 1 THEN s.qmon_id END) AS head_id,
    MIN(CASE WHEN s.qmon_place = 1 THEN CAST(
        DATEDIFF(DAY, s.qmon_at, SYSUTCDATETIME()) * 86400.0
        + DATEDIFF(MILLISECOND, DATEADD(DAY, DATEDIFF(DAY, s.qmon_at, SYSUTCDATETIME()), s.qmon_at), SYSUTCDATETIME()) / 1000.0
    AS float) END) AS oldest_s,
    CAST(COUNT(*) AS int) AS counted
FROM (
    SELECT TOP (:limit)
        CONVERT(nvarchar(450), {id?}, 126) AS qmon_id,
        {due_at!utc.q} AS qmon_at,
        ROW_NUMBER() OVER (ORDER BY q.{due_at}) AS qmon_place
    FROM {table} AS q WITH (INDEX ({head_index}))
    WHERE q.{state} = CAST(:ready AS {state!type}(100))
        AND q.{due_at} <= {due_at!clock}
    ORDER BY q.{due_at}
) AS s
OPTION (MAXDOP 1{head_index!recompile})
