-- The oldest ready message of a queue with a state column, starting at the last known oldest message, and a limited
-- count. Recompiled for each execution if the index is filtered: only then can the statement use that index.
-- {table}        the queue's table
-- {id}           column: the id, in the order of pops
-- {state}        column: the state
-- {enqueued_at?} column: when it was pushed
-- {head_index}   the index that gives the ready rows in the order of pops
-- :ready         the state value of a ready message
-- :head          last known head id, NULL at first
-- :limit         maximum number of ready rows to read
-- > head_id      id of the oldest ready message
-- > oldest_s     its age in seconds
-- > counted      ready rows seen, at most :limit
SELECT
    MIN(CASE WHEN s.qmon_place = 1 THEN s.qmon_id END) AS head_id,
    MIN(CASE WHEN s.qmon_place = 1 THEN CAST(
        DATEDIFF(DAY, s.qmon_at, SYSUTCDATETIME()) * 86400.0
        + DATEDIFF(MILLISECOND, DATEADD(DAY, DATEDIFF(DAY, s.qmon_at, SYSUTCDATETIME()), s.qmon_at), SYSUTCDATETIME()) / 1000.0
    AS float) END) AS oldest_s,
    CAST(COUNT(*) AS int) AS counted
FROM (
    SELECT COALESCE(
        CAST(:head AS {id!type}(450)),
        (
            SELECT TOP (1) f.{id}
            FROM {table} AS f WITH (INDEX ({head_index}))
            WHERE f.{state} = CAST(:ready AS {state!type}(100))
            ORDER BY f.{id}
        )
    ) AS qmon_from
) AS b
CROSS APPLY (
    SELECT TOP (:limit)
        CONVERT(nvarchar(450), q.{id}, 126) AS qmon_id,
        {enqueued_at?!moment} AS qmon_at,
        ROW_NUMBER() OVER (ORDER BY q.{id}) AS qmon_place
    FROM {table} AS q WITH (INDEX ({head_index}))
    WHERE q.{state} = CAST(:ready AS {state!type}(100))
        AND q.{id} >= b.qmon_from
    ORDER BY q.{id}
) AS s
OPTION (MAXDOP 1{head_index!recompile})
