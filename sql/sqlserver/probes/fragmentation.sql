-- The fragmentation of one index: the share of leaf pages that do not follow the previous leaf page on disk. LIMITED
-- reads only the level above the leaves: one page in some hundreds if keys are short, and one page in eight at worst.
-- It is never used for a heap, because the server would read the whole heap. The index is always named, because NULL
-- would mean all indexes. Takes an intent shared lock on the table while it runs. Needs VIEW DATABASE STATE (2022 and
-- later: VIEW DATABASE PERFORMANCE STATE).
-- :table_id     the table's object id
-- :index_id     the index as the server counts it, 1 or more
-- > read_at     server clock, seconds since the epoch
-- > pages       leaf pages
-- > fragmented  share of them that are out of order, 0 to 1; NULL: there are none
SELECT
    CAST(DATEDIFF(DAY, '19700101', SYSUTCDATETIME()) * 86400.0
        + DATEDIFF(SECOND, CAST(SYSUTCDATETIME() AS date), SYSUTCDATETIME()) AS float) AS read_at,
    CAST(COALESCE(SUM(f.page_count), 0) AS bigint) AS pages,
    CAST(SUM(f.avg_fragmentation_in_percent * f.page_count) / NULLIF(SUM(f.page_count), 0) / 100.0 AS float) AS fragmented
FROM sys.dm_db_index_physical_stats(
    DB_ID(), COALESCE(CAST(:table_id AS int), -1), COALESCE(NULLIF(CAST(:index_id AS int), 0), 2147483647), NULL, N'LIMITED'
) AS f
WHERE f.alloc_unit_type_desc = N'IN_ROW_DATA'
    AND f.index_level = 0
