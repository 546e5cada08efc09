-- The sessions that use most of tempdb: the space that their finished statements have left there, and the space of
-- running statements. Needs VIEW SERVER STATE (2022 and later: VIEW SERVER PERFORMANCE STATE; Azure SQL Database: VIEW
-- DATABASE STATE). Row versions belong to no session: the probe "horizon" shows the session that keeps them.
-- > session     its number
-- > application its application name
-- > host        its machine
-- > internal    bytes of its work tables: sorts, hash joins, spools
-- > objects     bytes of its temporary tables and table variables
SELECT TOP (5)
    CAST(s.session_id AS int) AS session,
    CAST(COALESCE(s.program_name, N'') AS nvarchar(128)) AS application,
    CAST(COALESCE(s.host_name, N'') AS nvarchar(128)) AS host,
    CAST(p.internal * 8192 AS bigint) AS internal,
    CAST(p.objects * 8192 AS bigint) AS objects
FROM (
    SELECT u.session_id, SUM(u.internal) AS internal, SUM(u.objects) AS objects
    FROM (
        SELECT
            e.session_id,
            e.internal_objects_alloc_page_count - e.internal_objects_dealloc_page_count AS internal,
            e.user_objects_alloc_page_count - e.user_objects_dealloc_page_count AS objects
        FROM sys.dm_db_session_space_usage AS e
        WHERE e.database_id = 2
        UNION ALL
        SELECT
            t.session_id,
            t.internal_objects_alloc_page_count - t.internal_objects_dealloc_page_count,
            t.user_objects_alloc_page_count - t.user_objects_dealloc_page_count
        FROM sys.dm_db_task_space_usage AS t
        WHERE t.database_id = 2
    ) AS u
    GROUP BY u.session_id
) AS p
JOIN sys.dm_exec_sessions AS s ON s.session_id = p.session_id
WHERE s.is_user_process = 1
    AND p.internal + p.objects >= 128
ORDER BY p.internal + p.objects DESC
