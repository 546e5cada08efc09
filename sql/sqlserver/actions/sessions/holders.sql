-- Open transactions that hold write locks on a table, the oldest first.
-- {table}           the table
-- > session         its id
-- > started_us      when the session began, microseconds since the epoch
-- > transaction_us  when its transaction began, the same
-- > transaction_s   seconds since
-- > login           its login
-- > application     its application name
-- > state           active or idle in transaction
-- > xids            empty: rows do not show who holds them
-- > rows            rows it has locked for itself; it may have added them, or taken them
-- > log_bytes       log it has written, in bytes
SELECT TOP (200)
    CAST(s.session_id AS int) AS session,
    (CAST(DATEDIFF(DAY, '19700101', s.login_time) AS bigint) * 86400 + DATEDIFF(SECOND, CAST(s.login_time AS date), s.login_time)) * 1000000
        + DATEPART(MILLISECOND, s.login_time) * 1000
        - CAST(DATEPART(TZOFFSET, SYSDATETIMEOFFSET()) AS bigint) * 60000000 AS started_us,
    (CAST(DATEDIFF(DAY, '19700101', x.began) AS bigint) * 86400 + DATEDIFF(SECOND, CAST(x.began AS date), x.began)) * 1000000
        + DATEPART(MILLISECOND, x.began) * 1000
        - CAST(DATEPART(TZOFFSET, SYSDATETIMEOFFSET()) AS bigint) * 60000000 AS transaction_us,
    CAST(DATEDIFF(DAY, x.began, GETDATE()) * 86400.0
        + DATEDIFF(MILLISECOND, DATEADD(DAY, DATEDIFF(DAY, x.began, GETDATE()), x.began), GETDATE()) / 1000.0 AS float) AS transaction_s,
    CAST(s.login_name AS nvarchar(128)) AS login,
    CAST(COALESCE(s.program_name, N'') AS nvarchar(128)) AS application,
    CAST(CASE WHEN EXISTS (SELECT 1 FROM sys.dm_exec_requests AS q WHERE q.session_id = s.session_id) THEN 'active'
        ELSE 'idle in transaction' END AS varchar(20)) AS state,
    CAST('' AS varchar(1)) AS xids,
    CAST(h.rows AS int) AS rows,
    CAST(x.log_bytes AS bigint) AS log_bytes
FROM (
    SELECT l.request_session_id AS session_id,
           SUM(CASE WHEN l.resource_type IN (N'KEY', N'RID') AND l.request_mode = N'X' THEN 1 ELSE 0 END) AS rows
    FROM sys.dm_tran_locks AS l
    LEFT JOIN sys.partitions AS p ON p.hobt_id = l.resource_associated_entity_id AND l.resource_type IN (N'KEY', N'RID')
    WHERE l.resource_database_id = DB_ID()
        AND l.request_status = N'GRANT'
        AND (
            l.resource_type = N'OBJECT' AND l.resource_associated_entity_id = OBJECT_ID({table!literal})
            AND l.request_mode IN (N'IX', N'SIX', N'X')
            OR p.object_id = OBJECT_ID({table!literal}) AND p.index_id IN (0, 1)
        )
    GROUP BY l.request_session_id
    HAVING SUM(CASE WHEN l.resource_type = N'OBJECT' THEN 1 ELSE 0 END) > 0
) AS h
JOIN sys.dm_exec_sessions AS s ON s.session_id = h.session_id
CROSS APPLY (
    SELECT MIN(a.transaction_begin_time) AS began, SUM(d.database_transaction_log_bytes_used) AS log_bytes
    FROM sys.dm_tran_session_transactions AS st
    JOIN sys.dm_tran_active_transactions AS a ON a.transaction_id = st.transaction_id
    LEFT JOIN sys.dm_tran_database_transactions AS d ON d.transaction_id = st.transaction_id
    WHERE st.session_id = s.session_id
        AND st.is_user_transaction = 1
) AS x
WHERE s.session_id <> @@SPID
    AND x.began IS NOT NULL
ORDER BY x.began
