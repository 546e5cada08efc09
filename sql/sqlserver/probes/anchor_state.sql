-- Exact counts of a whole table with a state column. Reads the table: slow cadence, own connection, own budget; on one
-- processor, without locks. Asked only where the server's own count of rows (probe "depth") does not serve.
-- {table}        the queue's table
-- {state}        column: the state
-- {due_at?}      column: when a message is due
-- :ready         the state value of a ready message
-- :in_progress   the state value in progress, NULL where there is none
-- :done          the state value of a finished message, NULL where there is none
-- :dead          the state value of a dead message, NULL where there is none
-- > counted_at   server clock as the count began, seconds since the epoch
-- > ready        ready and due
-- > in_progress  in progress
-- > scheduled    ready but not due yet
-- > dead         dead
-- > done         finished, not archived
SELECT
    CAST(DATEDIFF(DAY, '19700101', t.now) * 86400.0 + DATEDIFF(SECOND, CAST(t.now AS date), t.now) AS float)
        + DATEPART(NANOSECOND, t.now) / 1000000000.0 AS counted_at,
    c.ready,
    c.in_progress,
    c.scheduled,
    c.dead,
    c.done
FROM (SELECT SYSUTCDATETIME() AS now) AS t
CROSS JOIN (
    SELECT
        CAST(COALESCE(SUM(CASE WHEN s.qmon_state = CAST(:ready AS varchar(100)) AND (s.qmon_due IS NULL OR s.qmon_due <= SYSUTCDATETIME()) THEN 1 ELSE 0 END), 0) AS bigint) AS ready,
        CAST(COALESCE(SUM(CASE WHEN s.qmon_state = CAST(:in_progress AS varchar(100)) THEN 1 ELSE 0 END), 0) AS bigint) AS in_progress,
        CAST(COALESCE(SUM(CASE WHEN s.qmon_state = CAST(:ready AS varchar(100)) AND s.qmon_due > SYSUTCDATETIME() THEN 1 ELSE 0 END), 0) AS bigint) AS scheduled,
        CAST(COALESCE(SUM(CASE WHEN s.qmon_state = CAST(:dead AS varchar(100)) THEN 1 ELSE 0 END), 0) AS bigint) AS dead,
        CAST(COALESCE(SUM(CASE WHEN s.qmon_state = CAST(:done AS varchar(100)) THEN 1 ELSE 0 END), 0) AS bigint) AS done
    FROM (SELECT {state} AS qmon_state, CAST({due_at?} AS datetimeoffset(7)) AS qmon_due FROM {table}) AS s
) AS c
OPTION (MAXDOP 1)
