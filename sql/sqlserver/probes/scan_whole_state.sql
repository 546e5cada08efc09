-- Counts a whole table by state in one statement. Reads the table: slow cadence, own connection, own budget; on one
-- processor, without locks. Used only if no clustered key allows reading the table in ranges.
-- {table}        the queue's table
-- {state}        column: the state
-- {due_at?}      column: when a message is due
-- {started_at?}  column: when it was popped
-- {enqueued_at?} column: when it was pushed
-- :ready         the state value of a ready message
-- :in_progress   the state value in progress, NULL if there is none
-- :dead          the state value of a dead message, NULL if there is none
-- :timeout       seconds after which a message in progress is stuck
-- :known         the state values that are known, each between two bars
-- > counted_at   server clock as the count began, seconds since the epoch
-- > rows_seen    number of rows, whatever their state
-- > ready        ready and due
-- > in_progress  in progress
-- > timed        messages in progress with a known start time
-- > stuck        those in progress for longer than the timeout
-- > scheduled    ready but not due yet
-- > dead         dead
-- > oldest_at    when the oldest that is ready and due was pushed, seconds since the epoch
-- > longest_at   when the one longest in progress was popped, seconds since the epoch
-- > next_place   NULL: all rows were seen
-- > strange      in a state that is unknown, or in none (NULL)
-- > strange_first  the first of these states as text
-- > strange_last  the last of them
SELECT
    CAST(DATEDIFF(DAY, '19700101', t.now) * 86400.0 + DATEDIFF(SECOND, CAST(t.now AS date), t.now) AS float)
        + DATEPART(NANOSECOND, t.now) / 1000000000.0 AS counted_at,
    c.rows_seen,
    c.ready,
    c.in_progress,
    c.timed,
    c.stuck,
    c.scheduled,
    c.dead,
    CAST(DATEDIFF(DAY, '19700101', c.oldest) * 86400.0 + DATEDIFF(SECOND, CAST(c.oldest AS date), c.oldest) AS float)
        + DATEPART(NANOSECOND, c.oldest) / 1000000000.0 AS oldest_at,
    CAST(DATEDIFF(DAY, '19700101', c.longest) * 86400.0 + DATEDIFF(SECOND, CAST(c.longest AS date), c.longest) AS float)
        + DATEPART(NANOSECOND, c.longest) / 1000000000.0 AS longest_at,
    CAST(NULL AS nvarchar(450)) AS next_place,
    c.strange,
    c.strange_first,
    c.strange_last
FROM (SELECT SYSUTCDATETIME() AS now) AS t
CROSS JOIN (
    SELECT
        CAST(COUNT(*) AS bigint) AS rows_seen,
        CAST(COALESCE(SUM(CASE WHEN s.qmon_state = CAST(:ready AS {state!type}(100)) AND (s.qmon_due IS NULL OR s.qmon_due <= SYSUTCDATETIME()) THEN 1 ELSE 0 END), 0) AS bigint) AS ready,
        CAST(COALESCE(SUM(CASE WHEN s.qmon_state = CAST(:in_progress AS {state!type}(100)) THEN 1 ELSE 0 END), 0) AS bigint) AS in_progress,
        CAST(COALESCE(SUM(CASE WHEN s.qmon_state = CAST(:in_progress AS {state!type}(100)) AND s.qmon_started IS NOT NULL THEN 1 ELSE 0 END), 0) AS bigint) AS timed,
        CAST(COALESCE(SUM(CASE WHEN s.qmon_state = CAST(:in_progress AS {state!type}(100))
            AND s.qmon_started < DATEADD(SECOND, -CAST(CAST(:timeout AS float) AS int), SYSUTCDATETIME())
        THEN 1 ELSE 0 END), 0) AS bigint) AS stuck,
        CAST(COALESCE(SUM(CASE WHEN s.qmon_state = CAST(:ready AS {state!type}(100)) AND s.qmon_due > SYSUTCDATETIME() THEN 1 ELSE 0 END), 0) AS bigint) AS scheduled,
        CAST(COALESCE(SUM(CASE WHEN s.qmon_state = CAST(:dead AS {state!type}(100)) THEN 1 ELSE 0 END), 0) AS bigint) AS dead,
        CAST(COALESCE(SUM(CASE WHEN s.qmon_strange IS NULL THEN 0 ELSE 1 END), 0) AS bigint) AS strange,
        MIN(s.qmon_strange) AS strange_first,
        MAX(s.qmon_strange) AS strange_last,
        MIN(CASE WHEN s.qmon_state = CAST(:in_progress AS {state!type}(100)) THEN s.qmon_started END) AS longest,
        MIN(CASE WHEN s.qmon_state = CAST(:ready AS {state!type}(100)) AND (s.qmon_due IS NULL OR s.qmon_due <= SYSUTCDATETIME()) THEN s.qmon_pushed END) AS oldest
    FROM (
        SELECT
            {state} AS qmon_state,
            CASE WHEN CHARINDEX(N'|' + RTRIM(CAST({state} AS nvarchar(100))) + N'|', CAST(:known AS nvarchar(max))) > 0
                THEN NULL ELSE COALESCE(RTRIM(CAST({state} AS nvarchar(100))), N'NULL') END AS qmon_strange,
            {due_at?!utc} AS qmon_due,
            {started_at?!moment} AS qmon_started,
            {enqueued_at?!moment} AS qmon_pushed
        FROM {table}
    ) AS s
) AS c
OPTION (MAXDOP 1)
