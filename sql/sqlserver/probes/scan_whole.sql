-- Counts a whole table that deletes on pop in one statement. Reads the table: slow cadence, own connection, own budget;
-- on one processor, without locks. Used only if no clustered key allows reading the table in ranges, or if the server's
-- own count of rows (probe "depth") is not enough.
-- {table}        the queue's table
-- {due_at?}      column: when a message is due
-- {enqueued_at?} column: when it was pushed
-- > counted_at   server clock as the count began, seconds since the epoch
-- > rows_seen    number of rows, whatever their state
-- > ready        rows that are due
-- > in_progress  NULL: the locks show the held rows
-- > timed        NULL: no such state
-- > stuck        NULL: no such state
-- > scheduled    not due yet
-- > dead         NULL: no such state
-- > oldest_at    when the oldest that is ready and due was pushed, seconds since the epoch
-- > longest_at   NULL: no such state
-- > next_place   NULL: all rows were seen
-- > strange      NULL: no column says the state
-- > strange_first  NULL
-- > strange_last  NULL
SELECT
    CAST(DATEDIFF(DAY, '19700101', t.now) * 86400.0 + DATEDIFF(SECOND, CAST(t.now AS date), t.now) AS float)
        + DATEPART(NANOSECOND, t.now) / 1000000000.0 AS counted_at,
    c.rows_seen,
    c.ready,
    CAST(NULL AS bigint) AS in_progress,
    CAST(NULL AS bigint) AS timed,
    CAST(NULL AS bigint) AS stuck,
    c.scheduled,
    CAST(NULL AS bigint) AS dead,
    CAST(DATEDIFF(DAY, '19700101', c.oldest) * 86400.0 + DATEDIFF(SECOND, CAST(c.oldest AS date), c.oldest) AS float)
        + DATEPART(NANOSECOND, c.oldest) / 1000000000.0 AS oldest_at,
    CAST(NULL AS float) AS longest_at,
    CAST(NULL AS nvarchar(450)) AS next_place,
    CAST(NULL AS bigint) AS strange,
    CAST(NULL AS nvarchar(100)) AS strange_first,
    CAST(NULL AS nvarchar(100)) AS strange_last
FROM (SELECT SYSUTCDATETIME() AS now) AS t
CROSS JOIN (
    SELECT
        CAST(COUNT(*) AS bigint) AS rows_seen,
        CAST(COALESCE(SUM(CASE WHEN (s.qmon_due IS NULL OR s.qmon_due <= SYSUTCDATETIME()) THEN 1 ELSE 0 END), 0) AS bigint) AS ready,
        CAST(COALESCE(SUM(CASE WHEN s.qmon_due > SYSUTCDATETIME() THEN 1 ELSE 0 END), 0) AS bigint) AS scheduled,
        MIN(CASE WHEN (s.qmon_due IS NULL OR s.qmon_due <= SYSUTCDATETIME()) THEN s.qmon_pushed END) AS oldest
    FROM (
        SELECT
            {due_at?!utc} AS qmon_due,
            {enqueued_at?!moment} AS qmon_pushed
        FROM {table}
    ) AS s
) AS c
OPTION (MAXDOP 1)
