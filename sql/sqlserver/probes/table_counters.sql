-- The server's counters of one queue table and of each of its indexes since they were last loaded into memory, and the
-- number of rows: one read for both. Reads no table. The id is always given, because NULL would mean every table. The
-- counters include all changes, committed or not: a rollback is not subtracted. Needs VIEW DATABASE STATE (2022 and
-- later: VIEW DATABASE PERFORMANCE STATE).
-- Where the state is part of the clustered key, a pop moves the row, which the server counts as an insert and a delete:
-- the identity then shows how many inserts were pushes.
-- {state?}       column: the state
-- :table_id      the table's object id
-- > table_id     as asked
-- > index_id     the index; 0: the table itself, a heap or its clustered index; NULL: there is no such table
-- > name         of the index or table
-- > role         table, primary, unique, index
-- > scans        scans of ranges and lookups of single rows begun; NULL, as all that is counted: the server has counted nothing
-- > bytes        its size
-- > latch_waits  waits for a latch on one of its pages in memory
-- > latch_wait_s seconds waited for these
-- > lock_waits   waits for a lock on one of its rows or pages
-- > lock_wait_s  seconds waited for these
-- > splits       pages allocated because one was full, page splits included
-- > forwarded    rows of a heap that were read through forwarding records; NULL: of an index
-- > io_waits     waits for a page to be read from or written to a file (PAGEIOLATCH)
-- > ghosted      rows or entries deleted that stay as ghosts until the server removes them (leaf_ghost_count)
-- > escalations_tried times that the server tried to lock the whole table or partition in place of many rows
-- > escalations  times that it did
-- > sequential   OPTIMIZE_FOR_SEQUENTIAL_KEY is on; NULL: before 2019, or a heap
-- > inserted     rows inserted
-- > updated      rows updated
-- > deleted      rows deleted
-- > live         rows there are: each row written moves it, before its commit
-- > files        a number made of the partitions that hold its rows: another one after a switch or a rebuild
-- > partitions   those of which the server has counted something; NULL: of none
-- > altered      a number made of when the table was last altered, or an index of it made or altered
-- > called       its table's schema and name now; NULL if it is gone
-- > readable     our role may read it
SELECT TOP (1000)
    CAST(:table_id AS bigint) AS table_id,
    CAST(CASE i.index_id WHEN 1 THEN 0 ELSE i.index_id END AS bigint) AS index_id,
    CAST(CASE WHEN i.index_id IN (0, 1) THEN OBJECT_NAME(t.table_id) ELSE i.name END AS nvarchar(128)) AS name,
    CAST(CASE
        WHEN i.index_id IN (0, 1) THEN 'table'
        WHEN i.is_primary_key = 1 THEN 'primary'
        WHEN i.is_unique = 1 THEN 'unique'
        ELSE 'index'
    END AS varchar(10)) AS role,
    s.scans,
    b.bytes,
    s.latch_waits,
    s.latch_wait_s,
    s.lock_waits,
    s.lock_wait_s,
    s.splits,
    CASE WHEN i.index_id = 0 THEN s.forwarded END AS forwarded,
    s.io_waits,
    s.ghosted,
    s.escalations_tried,
    s.escalations,
    CAST(INDEXPROPERTY(t.table_id, i.name, 'IsOptimizedForSequentialKey') AS bit) AS sequential,
    CAST(CASE WHEN s.inserted IS NOT NULL THEN COALESCE(m.pushed, s.inserted) END AS bigint) AS inserted,
    CAST(COALESCE(s.updated + s.inserted - m.pushed, s.updated) AS bigint) AS updated,
    CAST(COALESCE(s.deleted - s.inserted + m.pushed, s.deleted) AS bigint) AS deleted,
    p.live,
    p.files,
    s.partitions,
    (CAST(DATEDIFF(DAY, '19700101', c.modify_date) AS bigint) * 86400 + DATEDIFF(SECOND, CAST(c.modify_date AS date), c.modify_date)) * 1000 + DATEPART(MILLISECOND, c.modify_date) AS altered,
    CAST(OBJECT_SCHEMA_NAME(t.table_id) + N'.' + OBJECT_NAME(t.table_id) AS nvarchar(260)) AS called,
    CAST(COALESCE(HAS_PERMS_BY_NAME(
        QUOTENAME(OBJECT_SCHEMA_NAME(t.table_id)) + N'.' + QUOTENAME(OBJECT_NAME(t.table_id)), N'OBJECT', N'SELECT'
    ), 0) AS bit) AS readable
FROM (SELECT CAST(:table_id AS int) AS table_id) AS t
LEFT JOIN sys.objects AS c ON c.object_id = t.table_id
LEFT JOIN sys.indexes AS i
    ON i.object_id = t.table_id AND i.is_hypothetical = 0 AND (i.is_disabled = 0 OR i.index_id IN (0, 1))
LEFT JOIN (
    SELECT
        u.index_id,
        COUNT(*) AS partitions,
        CAST(SUM(u.range_scan_count + u.singleton_lookup_count) AS bigint) AS scans,
        CAST(SUM(u.page_latch_wait_count) AS bigint) AS latch_waits,
        CAST(SUM(u.page_latch_wait_in_ms) / 1000.0 AS float) AS latch_wait_s,
        CAST(SUM(u.row_lock_wait_count + u.page_lock_wait_count) AS bigint) AS lock_waits,
        CAST(SUM(u.row_lock_wait_in_ms + u.page_lock_wait_in_ms) / 1000.0 AS float) AS lock_wait_s,
        CAST(SUM(u.leaf_allocation_count + u.nonleaf_allocation_count) AS bigint) AS splits,
        CAST(SUM(u.forwarded_fetch_count) AS bigint) AS forwarded,
        CAST(SUM(u.page_io_latch_wait_count) AS bigint) AS io_waits,
        CAST(SUM(u.leaf_ghost_count) AS bigint) AS ghosted,
        CAST(SUM(u.index_lock_promotion_attempt_count) AS bigint) AS escalations_tried,
        CAST(SUM(u.index_lock_promotion_count) AS bigint) AS escalations,
        CAST(SUM(u.leaf_insert_count) AS bigint) AS inserted,
        CAST(SUM(u.leaf_update_count) AS bigint) AS updated,
        CAST(SUM(u.leaf_delete_count + u.leaf_ghost_count) AS bigint) AS deleted
    FROM sys.dm_db_index_operational_stats(DB_ID(), COALESCE(CAST(:table_id AS int), -1), NULL, NULL) AS u
    GROUP BY u.index_id
) AS s ON s.index_id = i.index_id
LEFT JOIN (
    SELECT r.index_id, CAST(SUM(r.rows) AS bigint) AS live, CAST(SUM(r.hobt_id % 1000000007) AS bigint) AS files
    FROM sys.partitions AS r
    WHERE r.object_id = CAST(:table_id AS int)
    GROUP BY r.index_id
) AS p ON p.index_id = i.index_id
LEFT JOIN (
    SELECT r.index_id, CAST(SUM(a.used_pages) * 8192 AS bigint) AS bytes
    FROM sys.partitions AS r
    JOIN sys.allocation_units AS a ON a.container_id = r.hobt_id AND a.type IN (1, 3)
    WHERE r.object_id = CAST(:table_id AS int)
    GROUP BY r.index_id
) AS b ON b.index_id = i.index_id
OUTER APPLY (
    SELECT CAST(IDENT_CURRENT(
        QUOTENAME(OBJECT_SCHEMA_NAME(t.table_id)) + N'.' + QUOTENAME(OBJECT_NAME(t.table_id))
    ) AS bigint) AS pushed
    FROM sys.index_columns AS k
    JOIN sys.columns AS o ON o.object_id = k.object_id AND o.column_id = k.column_id
    WHERE k.object_id = t.table_id
        AND k.index_id = 1
        AND k.key_ordinal > 0
        AND i.index_id = 1
        AND QUOTENAME(o.name) = {state?!literal}
) AS m
