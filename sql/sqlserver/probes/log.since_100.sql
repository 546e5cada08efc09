-- The transaction log of this database, in Azure SQL Database: its used share, and the reason why its oldest part
-- cannot be used again. Needs VIEW DATABASE STATE. The server keeps these sums, so the log is not read.
-- > total   bytes of its files
-- > used    bytes of these that cannot be reused yet
-- > most    maximum bytes of its files, by their limits; NULL: no limit
-- > held_by the server's name of the holder (ACTIVE_TRANSACTION, AVAILABILITY_REPLICA …); empty: none
-- > pieces  NULL: not maintained there
-- > saved_s NULL: the service makes the backups itself
SELECT
    CAST(u.total_log_size_in_bytes AS bigint) AS total,
    CAST(u.used_log_space_in_bytes AS bigint) AS used,
    f.most,
    CAST(COALESCE(NULLIF(d.log_reuse_wait_desc, N'NOTHING'), N'') AS nvarchar(60)) AS held_by,
    CAST(NULL AS bigint) AS pieces,
    CAST(NULL AS float) AS saved_s
FROM sys.dm_db_log_space_usage AS u
JOIN sys.databases AS d ON d.name = DB_NAME()
CROSS JOIN (
    SELECT CAST(
        CASE MIN(l.max_size)
            WHEN -1 THEN NULL
            ELSE SUM(CASE WHEN l.growth = 0 OR l.max_size = 0 THEN l.size ELSE l.max_size END * CAST(8192 AS bigint))
        END
    AS bigint) AS most
    FROM sys.database_files AS l
    WHERE l.type = 1
) AS f
