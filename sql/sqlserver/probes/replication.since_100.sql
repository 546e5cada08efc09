-- The connected server, and the replicas of this database in other regions, in Azure SQL Database. It does not show
-- replicas within the region. Needs VIEW DATABASE STATE.
-- > name        the server
-- > host        empty: the machine is unknown
-- > local       it is the server that answers
-- > role        primary, secondary; empty: the database has no copy in another region
-- > state       seeding, catch_up, suspended, pending; empty: not known
-- > timeline    NULL: PostgreSQL alone counts promotions
-- > healthy     it follows; NULL: unknown
-- > synchronous false: no commit waits for another region; NULL: unknown
-- > connected   NULL: not shown
-- > suspended   the state where data movement is suspended; empty: it is not
-- > unsent      NULL: not shown
-- > unredone    NULL: not shown
-- > behind_s    seconds from a commit here to its arrival there; NULL: unknown
SELECT TOP (20)
    CAST(COALESCE(c.name, N'') AS nvarchar(256)) AS name,
    CAST(N'' AS nvarchar(128)) AS host,
    CAST(c.local AS bit) AS local,
    CAST(CASE c.role WHEN 0 THEN N'primary' WHEN 1 THEN N'secondary' ELSE N'' END AS nvarchar(10)) AS role,
    CAST(LOWER(COALESCE(CASE c.moves WHEN 4 THEN N'SUSPENDED' ELSE c.state END, N'')) AS nvarchar(60)) AS state,
    CAST(NULL AS int) AS timeline,
    CAST(CASE c.moves WHEN 2 THEN 1 WHEN 4 THEN 0 END AS bit) AS healthy,
    CAST(CASE WHEN c.local = 0 THEN 0 END AS bit) AS synchronous,
    CAST(NULL AS bit) AS connected,
    CAST(CASE c.moves WHEN 4 THEN N'SUSPENDED' ELSE N'' END AS nvarchar(60)) AS suspended,
    CAST(NULL AS bigint) AS unsent,
    CAST(NULL AS bigint) AS unredone,
    CAST(c.lag AS float) AS behind_s
FROM (
    SELECT
        CAST(SERVERPROPERTY('ServerName') AS nvarchar(128)) AS name,
        1 AS local,
        (SELECT MAX(w.role) FROM sys.dm_geo_replication_link_status AS w) AS role,
        CAST(NULL AS tinyint) AS moves,
        CAST(NULL AS nvarchar(256)) AS state,
        CAST(NULL AS int) AS lag
    UNION ALL
    SELECT
        CAST(g.partner_server AS nvarchar(128)),
        0,
        CAST(1 AS tinyint),
        g.replication_state,
        g.replication_state_desc,
        g.replication_lag_sec
    FROM sys.dm_geo_replication_link_status AS g
    WHERE g.role = 0
) AS c
ORDER BY local DESC, name
