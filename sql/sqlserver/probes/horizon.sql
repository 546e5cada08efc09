-- The holders of the horizon: no row version newer than a holder's transaction can leave the version store, and ghosts
-- of rows deleted since then stay. The oldest first; only transactions with row versions, of the whole server. If
-- READ_COMMITTED_SNAPSHOT and snapshots are off, there are no row versions and no holders.
-- :limit          maximum number of holders
-- :chars          maximum characters of a statement
-- > kind          always session
-- > session       its id
-- > name          always empty
-- > xid           sequence number of its transaction
-- > age           transactions with row versions begun since, by the last number that the server has given
-- > held_s        seconds since it got that number
-- > started_at    when the session began, seconds since the epoch
-- > state         active, or idle in transaction
-- > state_s       seconds in that state
-- > login         its login
-- > application   its application name
-- > host          its host
-- > database      its database
-- > statement     its last statement, shortened
SELECT TOP (:limit)
    CAST('session' AS varchar(20)) AS kind,
    CAST(h.session_id AS int) AS session,
    CAST('' AS varchar(1)) AS name,
    CONVERT(nvarchar(20), h.number) AS xid,
    CAST(h.newest - h.number AS bigint) AS age,
    CAST(h.held_s AS float) AS held_s,
    CAST(DATEDIFF(DAY, '19700101', s.login_time) * 86400.0
        + DATEDIFF(MILLISECOND, CAST(CAST(s.login_time AS date) AS datetime), s.login_time) / 1000.0
        - DATEPART(TZOFFSET, SYSDATETIMEOFFSET()) * 60.0 AS float) AS started_at,
    CAST(CASE WHEN r.session_id IS NULL THEN 'idle in transaction' ELSE 'active' END AS varchar(20)) AS state,
    CAST(
        DATEDIFF(DAY, e.at, GETDATE()) * 86400.0
        + DATEDIFF(MILLISECOND, DATEADD(DAY, DATEDIFF(DAY, e.at, GETDATE()), e.at), GETDATE()) / 1000.0
    AS float) AS state_s,
    CAST(COALESCE(s.login_name, N'') AS nvarchar(128)) AS login,
    CAST(COALESCE(s.program_name, N'') AS nvarchar(128)) AS application,
    CAST(COALESCE(s.host_name, N'') AS nvarchar(128)) AS host,
    CAST(COALESCE(DB_NAME(s.database_id), N'') AS nvarchar(128)) AS [database],
    CAST(COALESCE(LEFT(t.text, :chars), N'') AS nvarchar(4000)) AS statement
FROM (
    SELECT
        a.session_id,
        COALESCE(NULLIF(a.first_snapshot_sequence_num, 0), a.transaction_sequence_num) AS number,
        COALESCE(
            (SELECT MAX(c.last_transaction_sequence_num) FROM sys.dm_tran_current_transaction AS c),
            a.transaction_sequence_num
        ) AS newest,
        a.elapsed_time_seconds AS held_s
    FROM sys.dm_tran_active_snapshot_database_transactions AS a
    WHERE a.commit_sequence_num IS NULL
) AS h
JOIN sys.dm_exec_sessions AS s ON s.session_id = h.session_id
OUTER APPLY (
    SELECT TOP (1) q.session_id, q.sql_handle
    FROM sys.dm_exec_requests AS q
    WHERE q.session_id = h.session_id
    ORDER BY q.request_id
) AS r
-- A session whose login is under way has times of 1900.
CROSS APPLY (
    SELECT CASE WHEN v.at > '19000102' THEN v.at END AS at
    FROM (SELECT CASE WHEN r.session_id IS NULL THEN s.last_request_end_time ELSE s.last_request_start_time END AS at) AS v
) AS e
OUTER APPLY (
    SELECT TOP (1) c.most_recent_sql_handle
    FROM sys.dm_exec_connections AS c
    WHERE c.session_id = h.session_id
    ORDER BY c.last_read DESC
) AS c
OUTER APPLY sys.dm_exec_sql_text(COALESCE(r.sql_handle, c.most_recent_sql_handle)) AS t
WHERE h.session_id <> @@SPID
ORDER BY h.held_s DESC, h.session_id
