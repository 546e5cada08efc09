-- Distributed transactions without a session (their session id is -2), the oldest first: they hold their locks.
-- > gid         its unit of work
-- > owner       empty: the server does not say
-- > database    its database; empty if it has written nothing
-- > prepared_s  seconds since it began
-- > finish      the statement that ends it, by a login with ALTER ANY CONNECTION
SELECT TOP (20)
    CAST(CONVERT(nvarchar(36), a.transaction_uow) AS nvarchar(36)) AS gid,
    CAST(N'' AS nvarchar(128)) AS owner,
    CAST(COALESCE(DB_NAME(MIN(d.database_id)), N'') AS nvarchar(128)) AS [database],
    CAST(DATEDIFF(DAY, MIN(a.transaction_begin_time), GETDATE()) * 86400.0
        + DATEDIFF(MILLISECOND, DATEADD(DAY, DATEDIFF(DAY, MIN(a.transaction_begin_time), GETDATE()), MIN(a.transaction_begin_time)), GETDATE()) / 1000.0 AS float) AS prepared_s,
    CAST(N'KILL ''' + CONVERT(nvarchar(36), a.transaction_uow) + N'''' AS nvarchar(60)) AS finish
FROM sys.dm_tran_active_transactions AS a
LEFT JOIN sys.dm_tran_database_transactions AS d ON d.transaction_id = a.transaction_id
WHERE a.transaction_type = 4
    AND a.transaction_uow IS NOT NULL
    AND NOT EXISTS (
        SELECT 1 FROM sys.dm_tran_session_transactions AS st WHERE st.transaction_id = a.transaction_id
    )
GROUP BY a.transaction_uow
ORDER BY MIN(a.transaction_begin_time)
