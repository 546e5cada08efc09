-- The server's counters for the queue of a bench, and the bytes written to the log of the database. The server counts
-- reads per procedure, not per table, and includes reads of called procedures. Procedures that have not run since they
-- were created, and unused indexes, have no row.
-- {table}         the queue's table
-- {data?}         the table with the payloads, if they are in another table
-- {push}          procedure of the design that the load calls to push
-- {pop}           the one that it calls to pop
-- {complete?}     the procedure that completes messages, if the design has one
-- :schema         the schema of the bench
-- > wal           bytes written to the log of the database
-- > reads         pages read from memory or disk by these procedures
-- > payload       pages of payloads stored apart that were fetched
-- > dead          rows that are deleted and still in their pages, of the queue's table
-- > bytes         size of all tables of the schema with their indexes
-- > allocations   pages allocated because one was full, page splits included
-- > page_latches  waits for a latch on one of the pages in memory
-- > page_latch_ms milliseconds waited for these
-- > root_latches  waits for the latch on the root of a tree, of the whole server
-- > locks         waits for a lock on a row or page
-- > lock_ms       milliseconds waited for these
SELECT
    (SELECT SUM(f.num_of_bytes_written) FROM sys.dm_io_virtual_file_stats(DB_ID(), 2) AS f) AS wal,
    CAST(COALESCE(p.reads, 0) AS bigint) AS reads,
    CAST(COALESCE(u.payload, 0) AS bigint) AS payload,
    CAST(COALESCE(g.dead, 0) AS bigint) AS dead,
    CAST(COALESCE(b.bytes, 0) AS bigint) AS bytes,
    CAST(COALESCE(u.allocations, 0) AS bigint) AS allocations,
    CAST(COALESCE(u.page_latches, 0) AS bigint) AS page_latches,
    CAST(COALESCE(u.page_latch_ms, 0) AS bigint) AS page_latch_ms,
    CAST(COALESCE(l.root_latches, 0) AS bigint) AS root_latches,
    CAST(COALESCE(u.locks, 0) AS bigint) AS locks,
    CAST(COALESCE(u.lock_ms, 0) AS bigint) AS lock_ms
FROM (
    SELECT SUM(c.total_logical_reads) AS reads
    FROM sys.dm_exec_procedure_stats AS c
    WHERE c.database_id = DB_ID()
        AND c.object_id IN (OBJECT_ID({push!literal}), OBJECT_ID({pop!literal}), OBJECT_ID({complete?!literal}))
) AS p
CROSS JOIN (
    SELECT
        SUM(i.lob_fetch_in_pages + i.row_overflow_fetch_in_pages) AS payload,
        SUM(i.leaf_allocation_count + i.nonleaf_allocation_count) AS allocations,
        SUM(i.page_latch_wait_count) AS page_latches,
        SUM(i.page_latch_wait_in_ms) AS page_latch_ms,
        SUM(i.row_lock_wait_count + i.page_lock_wait_count) AS locks,
        SUM(i.row_lock_wait_in_ms + i.page_lock_wait_in_ms) AS lock_ms
    FROM (
        SELECT
            t.lob_fetch_in_pages, t.row_overflow_fetch_in_pages, t.leaf_allocation_count, t.nonleaf_allocation_count,
            t.page_latch_wait_count, t.page_latch_wait_in_ms, t.row_lock_wait_count, t.page_lock_wait_count,
            t.row_lock_wait_in_ms, t.page_lock_wait_in_ms
        FROM sys.dm_db_index_operational_stats(DB_ID(), COALESCE(OBJECT_ID({table!literal}), -1), NULL, NULL) AS t
        UNION ALL
        SELECT
            t.lob_fetch_in_pages, t.row_overflow_fetch_in_pages, t.leaf_allocation_count, t.nonleaf_allocation_count,
            t.page_latch_wait_count, t.page_latch_wait_in_ms, t.row_lock_wait_count, t.page_lock_wait_count,
            t.row_lock_wait_in_ms, t.page_lock_wait_in_ms
        FROM sys.dm_db_index_operational_stats(DB_ID(), COALESCE(OBJECT_ID({data?!literal}), -1), NULL, NULL) AS t
    ) AS i
) AS u
CROSS JOIN (
    SELECT SUM(y.ghost_record_count + y.version_ghost_record_count) AS dead
    FROM sys.dm_db_index_physical_stats(DB_ID(), COALESCE(OBJECT_ID({table!literal}), -1), NULL, NULL, N'DETAILED') AS y
    WHERE y.index_level = 0
) AS g
CROSS JOIN (
    SELECT SUM(a.used_pages) * 8192 AS bytes
    FROM sys.partitions AS r
    JOIN sys.objects AS o ON o.object_id = r.object_id
    JOIN sys.allocation_units AS a ON a.container_id = r.hobt_id AND a.type IN (1, 3)
    WHERE o.schema_id = SCHEMA_ID(CAST(:schema AS nvarchar(128)))
) AS b
CROSS JOIN (
    SELECT SUM(w.waiting_requests_count) AS root_latches
    FROM sys.dm_os_latch_stats AS w
    WHERE w.latch_class = N'ACCESS_METHODS_HOBT_VIRTUAL_ROOT'
) AS l
