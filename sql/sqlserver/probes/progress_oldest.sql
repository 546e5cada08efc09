-- Messages in progress, the longest-running first, counted up to a limit. Served by an index on the start time.
-- Recompiled for each execution if the index is filtered: only then can the statement use that index.
-- {table}       the queue's table
-- {state}       column: the state
-- {started_at}  column: when it was popped
-- {stuck_index} the index that gives the rows in progress in the order of that time
-- :in_progress  the state value of a message in progress
-- :timeout      seconds after which it is stuck
-- :limit        maximum number of rows to read
-- > in_progress rows seen, at most :limit
-- > timed       number of them with a usable start time
-- > stuck       number of these beyond the timeout
-- > longest_s   seconds since the longest-running of them was popped
SELECT
    CAST(COUNT(*) AS int) AS in_progress,
    CAST(COUNT(s.qmon_at) AS int) AS timed,
    CAST(
        COUNT(CASE WHEN s.qmon_at < DATEADD(SECOND, -CAST(CAST(:timeout AS float) AS int), SYSUTCDATETIME()) THEN 1 END)
    AS int) AS stuck,
    MAX(CAST(
        DATEDIFF(DAY, s.qmon_at, SYSUTCDATETIME()) * 86400.0
        + DATEDIFF(MILLISECOND, DATEADD(DAY, DATEDIFF(DAY, s.qmon_at, SYSUTCDATETIME()), s.qmon_at), SYSUTCDATETIME()) / 1000.0
    AS float)) AS longest_s
FROM (
    SELECT TOP (:limit)
        {started_at!moment.q} AS qmon_at
    FROM {table} AS q WITH (INDEX ({stuck_index}))
    WHERE q.{state} = CAST(:in_progress AS {state!type}(100))
    ORDER BY q.{started_at}
) AS s
OPTION (MAXDOP 1{stuck_index!recompile})
