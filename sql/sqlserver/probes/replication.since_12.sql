-- The connected server, and the other replicas of this database in the availability group: the primary shows all
-- replicas, a secondary only itself. Needs VIEW SERVER STATE (2022 and later: VIEW SERVER PERFORMANCE STATE); the names
-- of the other servers, and whether commits wait for them, VIEW ANY DEFINITION.
-- > name        the server, as the group knows it; empty: not shown
-- > host        machine of the answering server, otherwise empty
-- > local       it is the server that answers
-- > role        primary, secondary; empty: the database is in no group
-- > state       synchronized, synchronizing, not synchronizing, reverting, initializing; empty: not known
-- > timeline    NULL: PostgreSQL alone counts promotions
-- > healthy     it is in the state that it is to be in; NULL: unknown
-- > synchronous the primary's commits wait for it; NULL: unknown
-- > connected   the primary reaches it; NULL: unknown
-- > suspended   the server's word for why data movement is suspended; empty: it is not
-- > unsent      bytes of log that were not sent to it yet; NULL: unknown
-- > unredone    bytes of log that it has and has not redone; NULL: unknown
-- > behind_s    seconds from the primary's last commit back to the last commit that the replica reported; NULL: unknown
SELECT TOP (20)
    CAST(COALESCE(a.replica_server_name, CASE WHEN r.is_local = 0 THEN N'' ELSE h.server END, N'') AS nvarchar(256)) AS name,
    CAST(CASE WHEN r.is_local = 0 THEN N'' ELSE COALESCE(h.machine, N'') END AS nvarchar(128)) AS host,
    CAST(CASE WHEN r.is_local = 0 THEN 0 ELSE 1 END AS bit) AS local,
    CAST(CASE r.is_primary_replica WHEN 1 THEN N'primary' WHEN 0 THEN N'secondary' ELSE N'' END AS nvarchar(10)) AS role,
    CAST(LOWER(COALESCE(r.synchronization_state_desc, N'')) AS nvarchar(60)) AS state,
    CAST(NULL AS int) AS timeline,
    CAST(CASE r.synchronization_health WHEN 2 THEN 1 WHEN 1 THEN 0 WHEN 0 THEN 0 END AS bit) AS healthy,
    CAST(CASE a.availability_mode WHEN 1 THEN 1 WHEN 0 THEN 0 END AS bit) AS synchronous,
    CAST(s.connected_state AS bit) AS connected,
    CAST(CASE WHEN r.is_suspended = 1 THEN COALESCE(r.suspend_reason_desc, N'SUSPENDED') ELSE N'' END AS nvarchar(60)) AS suspended,
    CAST(r.log_send_queue_size * 1024 AS bigint) AS unsent,
    CAST(r.redo_queue_size * 1024 AS bigint) AS unredone,
    CAST(
        CASE
            WHEN r.is_local = 1 OR r.last_commit_time > p.last_commit_time THEN NULL
            ELSE DATEDIFF(DAY, r.last_commit_time, p.last_commit_time) * 86400.0
                + DATEDIFF(MILLISECOND, DATEADD(DAY, DATEDIFF(DAY, r.last_commit_time, p.last_commit_time), r.last_commit_time), p.last_commit_time) / 1000.0
        END
    AS float) AS behind_s
FROM (
    SELECT
        CAST(SERVERPROPERTY('ServerName') AS nvarchar(128)) AS server,
        CAST(SERVERPROPERTY('ComputerNamePhysicalNetBIOS') AS nvarchar(128)) AS machine
) AS h
LEFT JOIN sys.dm_hadr_database_replica_states AS r ON r.database_id = DB_ID()
LEFT JOIN sys.dm_hadr_database_replica_states AS p
    ON p.database_id = DB_ID() AND p.is_primary_replica = 1 AND p.is_local = 1
LEFT JOIN sys.availability_replicas AS a ON a.replica_id = r.replica_id
LEFT JOIN sys.dm_hadr_availability_replica_states AS s ON s.replica_id = r.replica_id
ORDER BY local DESC, name
