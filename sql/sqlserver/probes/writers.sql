-- Running transactions that have written in this database, and so hold rows.
-- > xid           transaction id as text, as locks name it
-- > session       its session
-- > transaction_s seconds since its transaction began
-- > state         active, or idle in transaction
-- > application   its application name
SELECT TOP (1000)
    CONVERT(nvarchar(20), d.transaction_id) AS xid,
    CAST(st.session_id AS int) AS session,
    CAST(
        DATEDIFF(DAY, a.transaction_begin_time, GETDATE()) * 86400.0
        + DATEDIFF(
            MILLISECOND,
            DATEADD(DAY, DATEDIFF(DAY, a.transaction_begin_time, GETDATE()), a.transaction_begin_time),
            GETDATE()
        ) / 1000.0
    AS float) AS transaction_s,
    CAST(CASE
        WHEN EXISTS (SELECT 1 FROM sys.dm_exec_requests AS r WHERE r.session_id = st.session_id) THEN 'active'
        ELSE 'idle in transaction'
    END AS varchar(20)) AS state,
    CAST(COALESCE(s.program_name, N'') AS nvarchar(128)) AS application
FROM sys.dm_tran_database_transactions AS d
JOIN sys.dm_tran_session_transactions AS st ON st.transaction_id = d.transaction_id
JOIN sys.dm_tran_active_transactions AS a ON a.transaction_id = d.transaction_id
LEFT JOIN sys.dm_exec_sessions AS s ON s.session_id = st.session_id
WHERE d.database_id = DB_ID()
    AND d.database_transaction_begin_lsn IS NOT NULL
ORDER BY a.transaction_begin_time
