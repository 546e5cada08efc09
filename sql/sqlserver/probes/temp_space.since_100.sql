-- The space of tempdb, in Azure SQL Database: how much is used, and for what. Needs VIEW DATABASE STATE. The server keeps the sums itself.
-- > total    bytes of its data files
-- > used     bytes of these in use
-- > most     maximum bytes of its data files, by their limits; NULL: unknown
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
    SELECT CAST(
        CASE MIN(l.max_size)
            WHEN -1 THEN NULL
            ELSE SUM(CASE WHEN l.growth = 0 OR l.max_size = 0 THEN l.size ELSE l.max_size END * CAST(8192 AS bigint))
        END
    AS bigint) AS most
    FROM tempdb.sys.database_files AS l
    WHERE l.type = 0
) AS f
