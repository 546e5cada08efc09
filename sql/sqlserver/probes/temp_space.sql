-- The space of tempdb: how much is used, and for what. Needs VIEW SERVER STATE (2022 and later: VIEW
-- SERVER PERFORMANCE STATE). The server keeps the sums itself.
-- > total    bytes of its data files
-- > used     bytes of these in use
-- > most     maximum bytes of its data files, by their limits and the free space on their disks; NULL: unknown
-- > versions bytes of row versions, of all databases
-- > internal bytes of work tables: sorts, hash joins, spools
-- > objects  bytes of temporary tables and table variables
SELECT
    CAST(u.total * 8192 AS bigint) AS total,
    CAST((u.total - u.free) * 8192 AS bigint) AS used,
    f.most,
    CAST(u.versions * 8192 AS bigint) AS versions,
    CAST(u.internal * 8192 AS bigint) AS internal,
    CAST(u.objects * 8192 AS bigint) AS objects
FROM (
    SELECT
        SUM(s.total_page_count) AS total,
        SUM(s.unallocated_extent_page_count) AS free,
        SUM(s.version_store_reserved_page_count) AS versions,
        SUM(s.internal_object_reserved_page_count) AS internal,
        SUM(s.user_object_reserved_page_count) AS objects
    FROM tempdb.sys.dm_db_file_space_usage AS s
) AS u
CROSS JOIN (
    SELECT CAST(SUM(CASE WHEN d.most <= d.size + d.room THEN d.most ELSE d.size + d.room END) AS bigint) AS most
    FROM (
        SELECT
            SUM(l.size * CAST(8192 AS bigint)) AS size,
            SUM(
                CASE
                    WHEN l.growth = 0 OR l.max_size = 0 THEN l.size
                    WHEN l.max_size = -1 THEN 2147483647
                    ELSE l.max_size
                END * CAST(8192 AS bigint)
            ) AS most,
            MAX(v.available_bytes) AS room
        FROM tempdb.sys.database_files AS l
        OUTER APPLY sys.dm_os_volume_stats(2, l.file_id) AS v
        WHERE l.type = 0
        GROUP BY v.volume_mount_point
    ) AS d
) AS f
