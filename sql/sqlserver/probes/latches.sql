-- Sessions that wait for a latch on a page of this database, and the use of the page, which follows from its number: in
-- each file, page 1 and every 8,088th are PFS, 2 and every 511,232nd after it GAM, 3 and every 511,232nd after it SGAM;
-- these belong to no table. This statement does not read the page, so its table and index are unknown; `page_owner`
-- reads one page, from 2019 on.
-- :chars       maximum characters of a statement
-- > session     its id
-- > event       PAGELATCH_EX and the like
-- > waiting_s   seconds it has waited
-- > table_id    NULL: unknown
-- > index_id    NULL: unknown
-- > page        file and page, and its role: PFS, GAM, SGAM
-- > application its application name
-- > statement   its command, shortened
SELECT TOP (200)
    CAST(w.session_id AS int) AS session,
    CAST(w.wait_type AS nvarchar(60)) AS event,
    CAST(w.waited_ms / 1000.0 AS float) AS waiting_s,
    CAST(NULL AS bigint) AS table_id,
    CAST(NULL AS bigint) AS index_id,
    CAST(COALESCE(CONVERT(nvarchar(10), w.file_id) + N':' + CONVERT(nvarchar(12), w.page_id) + CASE
        WHEN w.page_id = 1 OR w.page_id % 8088 = 0 THEN N' (PFS)'
        WHEN w.page_id = 2 OR w.page_id % 511232 = 0 THEN N' (GAM)'
        WHEN w.page_id = 3 OR (w.page_id - 1) % 511232 = 0 THEN N' (SGAM)'
        ELSE N''
    END, N'') AS nvarchar(60)) AS page,
    CAST(COALESCE(s.program_name, N'') AS nvarchar(128)) AS application,
    CAST(COALESCE(LEFT(t.text, :chars), N'') AS nvarchar(4000)) AS statement
FROM (
    SELECT
        k.session_id,
        k.wait_type,
        k.wait_duration_ms AS waited_ms,
        TRY_CAST(PARSENAME(REPLACE(k.resource_description, N':', N'.'), 3) AS int) AS database_id,
        TRY_CAST(PARSENAME(REPLACE(k.resource_description, N':', N'.'), 2) AS int) AS file_id,
        TRY_CAST(PARSENAME(REPLACE(k.resource_description, N':', N'.'), 1) AS bigint) AS page_id
    FROM sys.dm_os_waiting_tasks AS k
    WHERE k.wait_type LIKE N'PAGELATCH[_]%'
        AND k.session_id IS NOT NULL
        AND k.resource_description LIKE N'%[0-9]:%[0-9]:%[0-9]'
        AND k.resource_description NOT LIKE N'%[^0-9:]%'
) AS w
JOIN sys.dm_exec_sessions AS s ON s.session_id = w.session_id
LEFT JOIN sys.dm_exec_requests AS r ON r.session_id = w.session_id
OUTER APPLY sys.dm_exec_sql_text(r.sql_handle) AS t
WHERE w.database_id = DB_ID()
ORDER BY w.waited_ms DESC
