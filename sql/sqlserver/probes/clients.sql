-- The sessions of programs in this database, without qmon's own, with their identity and last statement. Only VIEW
-- SERVER STATE (2022 and later: VIEW SERVER PERFORMANCE STATE) shows the sessions of other logins. The cost grows with
-- the number of sessions, not of queues.
-- :limit        maximum number of sessions; those with the newest last statement first
-- :chars        maximum characters of a statement
-- :texts        number of sessions whose statements are read, the newest; empty for the others
-- > session     its id
-- > started_at  when it began, seconds since the epoch
-- > application its application name
-- > login       its login
-- > state       active, idle, idle in transaction
-- > begun_s     seconds since its last statement began
-- > quiet_s     seconds for which it has been idle, or at work
-- > wait_kind   class of its wait (Lock, Timeout if it sleeps on purpose …), empty if it runs
-- > statement   its last statement, shortened
-- > host        its client's host; empty if it is not known
SELECT
    CAST(s.session_id AS int) AS session,
    CAST(CASE WHEN s.login_time > '19000102' THEN DATEDIFF(DAY, '19700101', s.login_time) * 86400.0
        + DATEDIFF(MILLISECOND, CAST(CAST(s.login_time AS date) AS datetime), s.login_time) / 1000.0
        - DATEPART(TZOFFSET, SYSDATETIMEOFFSET()) * 60.0 END AS float) AS started_at,
    CAST(COALESCE(s.program_name, N'') AS nvarchar(128)) AS application,
    CAST(COALESCE(s.login_name, N'') AS nvarchar(128)) AS login,
    CAST(CASE
        WHEN r.session_id IS NOT NULL THEN 'active'
        WHEN EXISTS (
            SELECT 1 FROM sys.dm_tran_session_transactions AS x WHERE x.session_id = s.session_id AND x.is_user_transaction = 1
        ) THEN 'idle in transaction'
        ELSE 'idle'
    END AS varchar(20)) AS state,
    CAST(
        DATEDIFF(DAY, e.begun_at, GETDATE()) * 86400.0
        + DATEDIFF(MILLISECOND, DATEADD(DAY, DATEDIFF(DAY, e.begun_at, GETDATE()), e.begun_at), GETDATE()) / 1000.0
    AS float) AS begun_s,
    CAST(
        DATEDIFF(DAY, e.quiet_at, GETDATE()) * 86400.0
        + DATEDIFF(MILLISECOND, DATEADD(DAY, DATEDIFF(DAY, e.quiet_at, GETDATE()), e.quiet_at), GETDATE()) / 1000.0
    AS float) AS quiet_s,
    CAST(CASE
        WHEN r.session_id IS NULL THEN 'Client'
        WHEN r.wait_type IS NULL THEN ''
        WHEN r.wait_type LIKE N'LCK[_]%' THEN 'Lock'
        WHEN r.wait_type IN (N'WAITFOR', N'BROKER_RECEIVE_WAITFOR') THEN 'Timeout'
        WHEN r.wait_type = N'ASYNC_NETWORK_IO' THEN 'Client'
        WHEN r.wait_type LIKE N'PAGELATCH[_]%' OR r.wait_type LIKE N'LATCH[_]%' THEN 'LWLock'
        WHEN r.wait_type LIKE N'PAGEIOLATCH[_]%' OR r.wait_type IN (N'WRITELOG', N'IO_COMPLETION') THEN 'IO'
        ELSE 'Other'
    END AS varchar(20)) AS wait_kind,
    CAST(COALESCE(LEFT(t.text, :chars), N'') AS nvarchar(4000)) AS statement,
    CAST(COALESCE(s.host_name, N'') AS nvarchar(128)) AS host
FROM (
    SELECT TOP (:limit)
        u.session_id, u.login_time, u.program_name, u.login_name, u.host_name, u.last_request_start_time, u.last_request_end_time,
        ROW_NUMBER() OVER (ORDER BY u.last_request_start_time DESC) AS nth
    FROM sys.dm_exec_sessions AS u
    WHERE u.is_user_process = 1
        AND u.database_id = DB_ID()
        AND u.session_id <> @@SPID
        AND (u.program_name NOT LIKE N'qmon %' OR u.program_name = N'qmon load' OR u.program_name IS NULL)
    ORDER BY u.last_request_start_time DESC
) AS s
OUTER APPLY (
    SELECT TOP (1) q.session_id, q.wait_type, q.sql_handle
    FROM sys.dm_exec_requests AS q
    WHERE q.session_id = s.session_id
    ORDER BY q.request_id
) AS r
-- A session whose login is under way has times of 1900.
CROSS APPLY (
    SELECT
        CASE WHEN v.begun_at > '19000102' THEN v.begun_at END AS begun_at,
        CASE WHEN v.quiet_at > '19000102' THEN v.quiet_at END AS quiet_at
    FROM (
        SELECT
            s.last_request_start_time AS begun_at,
            CASE WHEN r.session_id IS NULL THEN COALESCE(s.last_request_end_time, s.login_time) ELSE s.last_request_start_time END AS quiet_at
    ) AS v
) AS e
OUTER APPLY (
    SELECT TOP (1) c.most_recent_sql_handle
    FROM sys.dm_exec_connections AS c
    WHERE c.session_id = s.session_id
    ORDER BY c.last_read DESC
) AS c
OUTER APPLY sys.dm_exec_sql_text(
    CASE WHEN s.nth <= CAST(:texts AS int) THEN COALESCE(r.sql_handle, c.most_recent_sql_handle) END
) AS t
ORDER BY s.nth
