-- One session, its current state, and the rights that ending it needs. Times assume that the server's distance from UTC
-- has always been the present one.
-- :session           its id
-- > session          the same
-- > started_us       when it began, microseconds since the epoch
-- > transaction_us   when its oldest open transaction began, likewise, or if there is none the request that it runs; otherwise NULL
-- > kind             client backend, or background worker
-- > database         its database
-- > login            its login
-- > application      its application name
-- > host             its host
-- > state            active, idle in transaction, idle, rolling back
-- > state_s          seconds since its last request began (active) or ended
-- > transaction_s    seconds since then
-- > statement        its last statement, shortened
-- > wrote            its transaction has written to the log
-- > locks            locks it holds, 1001 if there are more than a thousand
-- > may_end          our login may end it
-- > grant            the statement that grants the right, if it is missing
-- > log_bytes        log its transaction has written, in bytes
-- > rolled_back      percent of the rollback, if it is being rolled back
SELECT
    CAST(s.session_id AS int) AS session,
    (CAST(DATEDIFF(DAY, '19700101', s.login_time) AS bigint) * 86400 + DATEDIFF(SECOND, CAST(s.login_time AS date), s.login_time)) * 1000000
        + DATEPART(MILLISECOND, s.login_time) * 1000
        - CAST(DATEPART(TZOFFSET, SYSDATETIMEOFFSET()) AS bigint) * 60000000 AS started_us,
    (CAST(DATEDIFF(DAY, '19700101', w.began) AS bigint) * 86400 + DATEDIFF(SECOND, CAST(w.began AS date), w.began)) * 1000000
        + DATEPART(MILLISECOND, w.began) * 1000
        - CAST(DATEPART(TZOFFSET, SYSDATETIMEOFFSET()) AS bigint) * 60000000 AS transaction_us,
    CAST(CASE s.is_user_process WHEN 1 THEN 'client backend' ELSE 'background worker' END AS varchar(20)) AS kind,
    CAST(COALESCE(DB_NAME(r.database_id), DB_NAME(p.resource_database_id), N'') AS nvarchar(128)) AS [database],
    CAST(s.login_name AS nvarchar(128)) AS login,
    CAST(COALESCE(s.program_name, N'') AS nvarchar(128)) AS application,
    CAST(COALESCE(s.host_name, N'') AS nvarchar(128)) AS host,
    CAST(CASE
        WHEN x.rolls_back = 1 OR r.command = N'KILLED/ROLLBACK' THEN 'rolling back'
        WHEN r.session_id IS NOT NULL THEN 'active'
        WHEN x.began IS NOT NULL THEN 'idle in transaction'
        ELSE 'idle'
    END AS varchar(20)) AS state,
    CAST(DATEDIFF(DAY, e.at, GETDATE()) * 86400.0
        + DATEDIFF(MILLISECOND, DATEADD(DAY, DATEDIFF(DAY, e.at, GETDATE()), e.at), GETDATE()) / 1000.0 AS float) AS state_s,
    CAST(DATEDIFF(DAY, w.began, GETDATE()) * 86400.0
        + DATEDIFF(MILLISECOND, DATEADD(DAY, DATEDIFF(DAY, w.began, GETDATE()), w.began), GETDATE()) / 1000.0 AS float) AS transaction_s,
    CAST(COALESCE(LEFT(t.text, 200), N'') AS nvarchar(200)) AS statement,
    CAST(CASE WHEN x.log_bytes > 0 THEN 1 ELSE 0 END AS bit) AS wrote,
    CAST(k.locks AS int) AS locks,
    CAST(CASE WHEN HAS_PERMS_BY_NAME(NULL, NULL, 'ALTER ANY CONNECTION') = 1 THEN 1 ELSE 0 END AS bit) AS may_end,
    CAST(N'GRANT ALTER ANY CONNECTION TO ' + QUOTENAME(SUSER_SNAME()) AS nvarchar(300)) AS [grant],
    CAST(x.log_bytes AS bigint) AS log_bytes,
    CAST(CASE WHEN x.rolls_back = 1 OR r.command = N'KILLED/ROLLBACK' THEN r.percent_complete END AS float) AS rolled_back
FROM sys.dm_exec_sessions AS s
OUTER APPLY (
    SELECT TOP (1) q.session_id, q.start_time, q.command, q.database_id, q.percent_complete, q.sql_handle
    FROM sys.dm_exec_requests AS q
    WHERE q.session_id = s.session_id
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
    WHERE c.session_id = s.session_id
    ORDER BY c.last_read DESC
) AS c
OUTER APPLY (
    -- Every session holds a lock on the database it is in.
    SELECT TOP (1) o.resource_database_id
    FROM sys.dm_tran_locks AS o
    WHERE o.request_session_id = s.session_id
        AND o.resource_type = N'DATABASE'
        AND o.request_owner_type = N'SHARED_TRANSACTION_WORKSPACE'
) AS p
OUTER APPLY (
    SELECT
        MIN(a.transaction_begin_time) AS began,
        SUM(d.database_transaction_log_bytes_used) AS log_bytes,
        MAX(CASE a.transaction_state WHEN 7 THEN 1 ELSE 0 END) AS rolls_back
    FROM sys.dm_tran_session_transactions AS st
    JOIN sys.dm_tran_active_transactions AS a ON a.transaction_id = st.transaction_id
    LEFT JOIN sys.dm_tran_database_transactions AS d ON d.transaction_id = st.transaction_id
    WHERE st.session_id = s.session_id
        AND st.is_user_transaction = 1
) AS x
CROSS APPLY (SELECT COALESCE(x.began, r.start_time) AS began) AS w
OUTER APPLY (
    SELECT COUNT(*) AS locks
    FROM (
        SELECT TOP (1001) l.resource_type
        FROM sys.dm_tran_locks AS l
        WHERE l.request_session_id = s.session_id
            AND l.request_status = N'GRANT'
            AND l.resource_type <> N'DATABASE'
    ) AS l
) AS k
OUTER APPLY sys.dm_exec_sql_text(COALESCE(r.sql_handle, c.most_recent_sql_handle)) AS t
WHERE s.session_id = :session
