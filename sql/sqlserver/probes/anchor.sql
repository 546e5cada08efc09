-- Exact count of a whole table that deletes on pop. Reads the table: slow cadence, own connection, own budget; on one
-- processor, without locks. Asked only where the server's own count of rows (probe "depth") does not serve.
-- {table}       the queue's table
-- {due_at?}     column: when a message is due
-- > counted_at  server clock as the count began, seconds since the epoch
-- > ready       rows that are due
-- > in_progress NULL: held rows are told by their locks
-- > scheduled   not due yet
-- > dead        NULL: no such state
-- > done        NULL: no such state
SELECT
    CAST(DATEDIFF(DAY, '19700101', t.now) * 86400.0 + DATEDIFF(SECOND, CAST(t.now AS date), t.now) AS float)
        + DATEPART(NANOSECOND, t.now) / 1000000000.0 AS counted_at,
    c.ready,
    CAST(NULL AS bigint) AS in_progress,
    c.scheduled,
    CAST(NULL AS bigint) AS dead,
    CAST(NULL AS bigint) AS done
FROM (SELECT SYSUTCDATETIME() AS now) AS t
CROSS JOIN (
    SELECT
        CAST(COALESCE(SUM(CASE WHEN s.qmon_due > SYSUTCDATETIME() THEN 0 ELSE 1 END), 0) AS bigint) AS ready,
        CAST(COALESCE(SUM(CASE WHEN s.qmon_due > SYSUTCDATETIME() THEN 1 ELSE 0 END), 0) AS bigint) AS scheduled
    FROM (SELECT CAST({due_at?} AS datetimeoffset(7)) AS qmon_due FROM {table}) AS s
) AS c
OPTION (MAXDOP 1)
