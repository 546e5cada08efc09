-- Counts one range of a table's clustered key, of a queue that deletes on pop: a number of rows from a place on, and
-- further rows with the same key as the last row. Without locks.
-- {part}         the queue's table
-- {place}        column: the clustered key
-- {due_at?}      column: when a message is due
-- {enqueued_at?} column: when it was pushed
-- :after         the key of the last row seen, NULL at first
-- :limit         number of rows to read, plus those with the same key as the last one
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
-- > next_place   the key of the last row read; NULL if there was none
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
    c.next_place,
    CAST(NULL AS bigint) AS strange,
    CAST(NULL AS nvarchar(100)) AS strange_first,
    CAST(NULL AS nvarchar(100)) AS strange_last
FROM (SELECT SYSUTCDATETIME() AS now) AS t
CROSS JOIN (
    SELECT
        CAST(COUNT(*) AS bigint) AS rows_seen,
        CAST(COALESCE(SUM(CASE WHEN (s.qmon_due IS NULL OR s.qmon_due <= SYSUTCDATETIME()) THEN 1 ELSE 0 END), 0) AS bigint) AS ready,
        CAST(COALESCE(SUM(CASE WHEN s.qmon_due > SYSUTCDATETIME() THEN 1 ELSE 0 END), 0) AS bigint) AS scheduled,
        MIN(CASE WHEN (s.qmon_due IS NULL OR s.qmon_due <= SYSUTCDATETIME()) THEN s.qmon_pushed END) AS oldest,
        CONVERT(nvarchar(450), MAX(s.qmon_place), 126) AS next_place
    FROM (
        SELECT COALESCE(
            CAST(:after AS {place!type}(450)),
            (SELECT TOP (1) f.{place} FROM {part} AS f WITH (INDEX (1)) ORDER BY f.{place})
        ) AS qmon_from, CASE WHEN CAST(:after AS {place!type}(450)) IS NULL THEN 0 ELSE 1 END AS qmon_beyond
    ) AS b
    CROSS APPLY (
        SELECT TOP (:limit) WITH TIES
            q.{place} AS qmon_place,
            {due_at?!utc.q} AS qmon_due,
            {enqueued_at?!moment.q} AS qmon_pushed
        FROM {part} AS q WITH (INDEX (1))
        WHERE q.{place} >= b.qmon_from AND (b.qmon_beyond = 0 OR q.{place} > b.qmon_from)
        ORDER BY q.{place}
    ) AS s
) AS c
OPTION (MAXDOP 1)
