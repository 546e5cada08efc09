-- How one queue table and its indexes are used, totals since the server last took them into memory; reads no table. The id is
-- given, since NULL would ask about every table there is. Needs VIEW DATABASE STATE (2022 and later: VIEW DATABASE PERFORMANCE
-- STATE).
-- :table_id      the table's object id
-- > table_id     as asked
-- > index_id     the index; 0: the table itself, a heap or its clustered index
-- > name         of the index or table
-- > role         table, primary, unique, index
-- > scans        scans of ranges and lookups of single rows begun
-- > rows_read    NULL: not counted
-- > pages        NULL: not counted
-- > own_rows     NULL: not known
-- > own_pages    NULL: not known
-- > bytes        its size
-- > latch_waits  waits for a latch on one of its pages in memory
-- > latch_wait_s seconds waited for these
-- > lock_waits   waits for a lock on one of its rows or pages
-- > lock_wait_s  seconds waited for these
-- > splits       pages allocated because one was full, page splits included
-- > ghosts       NULL: how many still lie there is not known without reading the table
SELECT TOP (1000)
    CAST(:table_id AS bigint) AS table_id,
    CAST(CASE i.index_id WHEN 1 THEN 0 ELSE i.index_id END AS bigint) AS index_id,
    CAST(CASE WHEN i.index_id IN (0, 1) THEN o.name ELSE i.name END AS nvarchar(128)) AS name,
    CAST(CASE
        WHEN i.index_id IN (0, 1) THEN 'table'
        WHEN i.is_primary_key = 1 THEN 'primary'
        WHEN i.is_unique = 1 THEN 'unique'
        ELSE 'index'
    END AS varchar(10)) AS role,
    s.scans,
    CAST(NULL AS bigint) AS rows_read,
    CAST(NULL AS bigint) AS pages,
    CAST(NULL AS bigint) AS own_rows,
    CAST(NULL AS bigint) AS own_pages,
    b.bytes,
    s.latch_waits,
    s.latch_wait_s,
    s.lock_waits,
    s.lock_wait_s,
    s.splits,
    CAST(NULL AS bigint) AS ghosts
FROM sys.indexes AS i
JOIN sys.objects AS o ON o.object_id = i.object_id
LEFT JOIN (
    SELECT
        u.index_id,
        CAST(SUM(u.range_scan_count + u.singleton_lookup_count) AS bigint) AS scans,
        CAST(SUM(u.page_latch_wait_count) AS bigint) AS latch_waits,
        CAST(SUM(u.page_latch_wait_in_ms) / 1000.0 AS float) AS latch_wait_s,
        CAST(SUM(u.row_lock_wait_count + u.page_lock_wait_count) AS bigint) AS lock_waits,
        CAST(SUM(u.row_lock_wait_in_ms + u.page_lock_wait_in_ms) / 1000.0 AS float) AS lock_wait_s,
        CAST(SUM(u.leaf_allocation_count + u.nonleaf_allocation_count) AS bigint) AS splits
    FROM sys.dm_db_index_operational_stats(DB_ID(), COALESCE(CAST(:table_id AS int), -1), NULL, NULL) AS u
    GROUP BY u.index_id
) AS s ON s.index_id = i.index_id
LEFT JOIN (
    SELECT r.index_id, CAST(SUM(a.used_pages) * 8192 AS bigint) AS bytes
    FROM sys.partitions AS r
    JOIN sys.allocation_units AS a ON a.container_id = r.hobt_id AND a.type IN (1, 3)
    WHERE r.object_id = CAST(:table_id AS int)
    GROUP BY r.index_id
) AS b ON b.index_id = i.index_id
WHERE i.object_id = CAST(:table_id AS int)
    AND i.is_hypothetical = 0
    AND i.is_disabled = 0
