-- The server and the watched database as a whole; needs no right. Sessions are those that our login may see.
-- > now_at         server clock, seconds since the epoch
-- > started_at     time when the server started and created tempdb, seconds since the epoch; 0 if it is not visible
-- > stats_reset_at NULL: the server does not say
-- > in_recovery    true on a readable secondary and in a read-only database
-- > replay_paused  always false: see the probe "replica"
-- > behind_s       NULL: see the probe "replica"
-- > sessions       sessions connected to this database, without qmon's own; NULL if we see only our own sessions
-- > sessions_used  sessions of programs in all databases; NULL if we see only our own sessions
-- > sessions_limit sessions that the server allows: its setting "user connections", or the most there can be
-- > pollers        sessions of qmons that poll this database, including ours; NULL if we see only our own session
-- > commits        NULL: see the probe "server_counters"
-- > rollbacks      NULL: not counted
-- > deadlocks      NULL: see the probe "server_counters"
-- > sees_sessions  false if our login sees only its own sessions
-- > untracked      always 0: the server tracks every session
-- > counts         always true: the server always counts
-- > role           our login, quoted, for the GRANT that would help
SELECT
    CAST(DATEDIFF(DAY, '19700101', t.now) * 86400.0 + DATEDIFF(SECOND, CAST(t.now AS date), t.now) AS float)
        + DATEPART(NANOSECOND, t.now) / 1000000000.0 AS now_at,
    COALESCE((
        SELECT
            CAST(DATEDIFF(DAY, '19700101', d.create_date) * 86400.0 AS float)
                + DATEDIFF(SECOND, CAST(d.create_date AS date), d.create_date)
                - DATEPART(TZOFFSET, SYSDATETIMEOFFSET()) * 60.0
        FROM sys.databases AS d
        WHERE d.name = N'tempdb'
    ), 0.0) AS started_at,
    CAST(NULL AS float) AS stats_reset_at,
    CAST(CASE WHEN CAST(DATABASEPROPERTYEX(DB_NAME(), 'Updateability') AS nvarchar(20)) = N'READ_ONLY' THEN 1 ELSE 0 END AS bit)
        AS in_recovery,
    CAST(0 AS bit) AS replay_paused,
    CAST(NULL AS float) AS behind_s,
    CASE WHEN HAS_PERMS_BY_NAME(NULL, NULL, 'VIEW SERVER STATE') = 1 THEN s.sessions END AS sessions,
    CASE WHEN HAS_PERMS_BY_NAME(NULL, NULL, 'VIEW SERVER STATE') = 1 THEN s.used END AS sessions_used,
    COALESCE((
        SELECT NULLIF(CAST(c.value_in_use AS int), 0)
        FROM sys.configurations AS c
        WHERE c.name = N'user connections'
    ), @@MAX_CONNECTIONS) AS sessions_limit,
    CASE WHEN HAS_PERMS_BY_NAME(NULL, NULL, 'VIEW SERVER STATE') = 1 THEN s.pollers END AS pollers,
    CAST(NULL AS bigint) AS commits,
    CAST(NULL AS bigint) AS rollbacks,
    CAST(NULL AS bigint) AS deadlocks,
    CAST(CASE WHEN HAS_PERMS_BY_NAME(NULL, NULL, 'VIEW SERVER STATE') = 1 THEN 1 ELSE 0 END AS bit) AS sees_sessions,
    CAST(0 AS int) AS untracked,
    CAST(1 AS bit) AS counts,
    CAST(QUOTENAME(SUSER_SNAME()) AS nvarchar(260)) AS role
FROM (SELECT SYSUTCDATETIME() AS now) AS t
CROSS JOIN (
    SELECT
        COALESCE(SUM(CASE WHEN s.database_id <> DB_ID() OR s.program_name LIKE N'qmon %' THEN 0 ELSE 1 END), 0) AS sessions,
        COALESCE(SUM(CASE WHEN s.database_id = DB_ID() AND s.program_name = N'qmon poll' THEN 1 ELSE 0 END), 0) AS pollers,
        COUNT(*) AS used
    FROM sys.dm_exec_sessions AS s
    WHERE s.is_user_process = 1
) AS s
