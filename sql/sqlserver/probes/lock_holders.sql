-- Sessions that block even readers of some tables: the session that changes a table's schema (Sch-M), or, if there is
-- none, a session that waits to do so. Reads the lock table, and waits for no lock.
-- :tables         the tables' object ids, "1,2"
-- > table_id      one of these
-- > session       its id; 0 is a distributed transaction without a session
-- > gid           unit of work of that distributed transaction, otherwise empty
-- > waits         true: it still waits for the lock, and readers wait behind it
-- > login         its login
-- > application   its program name
-- > since_at      when its transaction began, seconds since the epoch; NULL if unknown
-- > statement     its last statement, shortened
SELECT f.table_id, f.session, f.gid, f.waits, f.login, f.application, f.since_at, f.statement
FROM (
    SELECT
        CAST(l.resource_associated_entity_id AS bigint) AS table_id,
        CAST(CASE WHEN l.request_session_id < 0 THEN 0 ELSE l.request_session_id END AS int) AS session,
        CAST(CASE WHEN l.request_session_id < 0 THEN CONVERT(nvarchar(36), l.request_owner_guid) ELSE N'' END
            AS nvarchar(36)) AS gid,
        CAST(CASE l.request_status WHEN N'GRANT' THEN 0 ELSE 1 END AS bit) AS waits,
        CAST(COALESCE(s.login_name, N'') AS nvarchar(128)) AS login,
        CAST(COALESCE(s.program_name, N'') AS nvarchar(128)) AS application,
        (CAST(DATEDIFF(DAY, '19700101', x.began) AS float) * 86400 + DATEDIFF(SECOND, CAST(x.began AS date), x.began)) + DATEPART(MILLISECOND, x.began) / 1000.0
            - DATEPART(TZOFFSET, SYSDATETIMEOFFSET()) * 60.0 AS since_at,
        CAST(COALESCE(LEFT(t.text, 200), N'') AS nvarchar(200)) AS statement,
        ROW_NUMBER() OVER (
            PARTITION BY l.resource_associated_entity_id
            ORDER BY CASE l.request_status WHEN N'GRANT' THEN 0 ELSE 1 END, x.began
        ) AS nth
    FROM sys.dm_tran_locks AS l
    LEFT JOIN sys.dm_exec_sessions AS s ON s.session_id = l.request_session_id
    OUTER APPLY (
        SELECT MIN(a.transaction_begin_time) AS began
        FROM sys.dm_tran_active_transactions AS a
        WHERE a.transaction_id = l.request_owner_id
    ) AS x
    OUTER APPLY (
        SELECT TOP (1) q.sql_handle
        FROM sys.dm_exec_requests AS q
        WHERE q.session_id = l.request_session_id
        ORDER BY q.request_id
    ) AS r
    OUTER APPLY (
        SELECT TOP (1) c.most_recent_sql_handle
        FROM sys.dm_exec_connections AS c
        WHERE c.session_id = l.request_session_id
        ORDER BY c.last_read DESC
    ) AS c
    OUTER APPLY sys.dm_exec_sql_text(COALESCE(r.sql_handle, c.most_recent_sql_handle)) AS t
    WHERE l.resource_database_id = DB_ID()
        AND l.resource_type = N'OBJECT'
        AND l.request_mode = N'Sch-M'
        AND CHARINDEX(
            N',' + CONVERT(nvarchar(20), l.resource_associated_entity_id) + N',',
            N',' + CAST(:tables AS nvarchar(max)) + N','
        ) > 0
) AS f
WHERE f.nth = 1
