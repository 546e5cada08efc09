-- The transaction log of this database: its used share, and the reason why its oldest part cannot be used again. Needs
-- VIEW SERVER STATE (2022 and later: VIEW SERVER PERFORMANCE STATE). The server keeps these sums, so the log is not
-- read.
-- > total   bytes of its files
-- > used    bytes of these that cannot be reused yet
-- > most    maximum bytes of its files, by their limits and the free space on their disks; NULL: unknown
-- > held_by the server's name of the holder (LOG_BACKUP, ACTIVE_TRANSACTION …); empty: none
-- > pieces  virtual log files
-- > saved_s seconds since the last log backup; NULL: there was none, or it is unknown
SELECT
    CAST(u.total_log_size_in_bytes AS bigint) AS total,
    CAST(u.used_log_space_in_bytes AS bigint) AS used,
    f.most,
    CAST(COALESCE(NULLIF(d.log_reuse_wait_desc, N'NOTHING'), N'') AS nvarchar(60)) AS held_by,
    CAST(s.total_vlf_count AS bigint) AS pieces,
    CAST(DATEDIFF(MINUTE, NULLIF(s.log_backup_time, '19000101'), GETDATE()) * 60.0 AS float) AS saved_s
FROM sys.dm_db_log_space_usage AS u
JOIN sys.databases AS d ON d.name = DB_NAME()
CROSS JOIN (
    SELECT CAST(SUM(CASE WHEN d.most <= d.size + d.room THEN d.most ELSE d.size + d.room END) AS bigint) AS most
    FROM (
        SELECT
            SUM(l.size * CAST(8192 AS bigint)) AS size,
            SUM(
                CASE
                    WHEN l.growth = 0 OR l.max_size = 0 THEN l.size
                    WHEN l.max_size = -1 THEN 268435456
                    ELSE l.max_size
                END * CAST(8192 AS bigint)
            ) AS most,
            MAX(v.available_bytes) AS room
        FROM sys.database_files AS l
        OUTER APPLY sys.dm_os_volume_stats(DB_ID(), l.file_id) AS v
        WHERE l.type = 1
        GROUP BY v.volume_mount_point
    ) AS d
) AS f
OUTER APPLY sys.dm_db_log_stats(DB_ID()) AS s
