-- The settings of this server and database that affect a queue, and the lock escalation of its tables. Needs no right.
-- :tables  table ids, separated by commas
-- > name   the name of the setting
-- > object the table, or the first of several with the same value and the number of the others; empty: not a setting of a table
-- > value  NULL: this version does not tell, or our login may not see it
SELECT
    CAST(COALESCE(x.name, N'') AS nvarchar(60)) AS name,
    CAST(COALESCE(x.object, N'') AS nvarchar(300)) AS object,
    CAST(x.value AS nvarchar(300)) AS value
FROM (
    SELECT s.place, s.name, N'' AS object, s.value
    FROM sys.databases AS d
    LEFT JOIN sys.configurations AS o ON o.name = N'user options'
    CROSS APPLY (
        VALUES
            (1, N'version', CAST(SERVERPROPERTY('ProductVersion') AS nvarchar(300))),
            (2, N'edition', CAST(SERVERPROPERTY('Edition') AS nvarchar(300))),
            (3, N'compatibility level', CAST(d.compatibility_level AS nvarchar(300))),
            (4, N'read committed snapshot', CASE d.is_read_committed_snapshot_on WHEN 1 THEN N'on' WHEN 0 THEN N'off' END),
            (5, N'snapshot isolation',
                CASE d.snapshot_isolation_state WHEN 0 THEN N'off' WHEN 1 THEN N'on' WHEN 2 THEN N'turning off' WHEN 3 THEN N'turning on' END),
            (6, N'accelerated recovery', CAST(NULL AS nvarchar(300))),
            (7, N'optimized locking',
                CASE CAST(DATABASEPROPERTYEX(DB_NAME(), 'IsOptimizedLockingOn') AS int) WHEN 1 THEN N'on' WHEN 0 THEN N'off' END),
            (8, N'delayed durability', CAST(NULL AS nvarchar(300))),
            (9, N'auto update statistics', CASE d.is_auto_update_stats_on WHEN 1 THEN N'on' WHEN 0 THEN N'off' END),
            (10, N'asynchronous statistics', CASE d.is_auto_update_stats_async_on WHEN 1 THEN N'on' WHEN 0 THEN N'off' END),
            (11, N'user options', CAST(CAST(o.value_in_use AS int) AS nvarchar(300)))
    ) AS s(place, name, value)
    WHERE d.name = DB_NAME()
    UNION ALL
    SELECT
        12,
        N'lock escalation',
        MIN(c.name + N'.' + t.name) + CASE WHEN COUNT(*) > 1 THEN N' and ' + CAST(COUNT(*) - 1 AS nvarchar(10)) + N' more' ELSE N'' END,
        CASE t.lock_escalation WHEN 0 THEN N'table' WHEN 1 THEN N'disabled' WHEN 2 THEN N'auto' END
    FROM (
        SELECT v.item.value('.', 'int') AS object_id
        FROM (
            SELECT CAST(N'<i>' + REPLACE(CAST(:tables AS nvarchar(max)), N',', N'</i><i>') + N'</i>' AS xml) AS list
        ) AS l
        CROSS APPLY l.list.nodes('/i') AS v(item)
    ) AS w
    JOIN sys.tables AS t ON t.object_id = w.object_id
    JOIN sys.schemas AS c ON c.schema_id = t.schema_id
    GROUP BY t.lock_escalation
) AS x
ORDER BY x.place, x.value
