-- The distinct values of a column, at most 33, among about 4 MB of the table: all blocks of a table that is not larger,
-- or else the same blocks each time, chosen at random.
-- {table}    the table
-- {column}   the column
-- :table_id  the table's oid
-- > value    one value as text
SELECT DISTINCT CAST(few.value AS text) AS value
FROM (
    SELECT {column} AS value
    FROM {table} TABLESAMPLE SYSTEM (
        least(100, 100 * 4194304.0 / greatest(pg_catalog.pg_relation_size(CAST(:table_id AS oid)), 1))
    ) REPEATABLE (0)
    LIMIT 50000
) AS few
WHERE few.value IS NOT NULL
ORDER BY 1
LIMIT 33
