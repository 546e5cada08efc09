-- How far one index is fragmented: the share of its leaf pages that do not follow the one before on disk. LIMITED reads the level
-- above the leaves and no leaf: one page in some hundreds where keys are short, one in eight at worst. A heap would be read from
-- end to end, so it is never asked about; nor is an index that is not named, since NULL would mean all of them. Takes an intent
-- shared lock on the table while it runs. Needs VIEW DATABASE STATE (2022 and later: VIEW DATABASE PERFORMANCE STATE).
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
