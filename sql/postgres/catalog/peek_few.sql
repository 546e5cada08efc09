-- The distinct values of a column among the first 50,000 rows, if the whole table is at most 4 MB now.
-- {table}    the table
-- {column}   the column
-- :table_id  the table's oid
-- > value    one value as text
SELECT DISTINCT CAST(few.value AS text) AS value
FROM (
    SELECT {column} AS value
    FROM {table}
    WHERE (SELECT pg_catalog.pg_relation_size(CAST(:table_id AS oid))) <= 4194304
    LIMIT 50000
) AS few
WHERE few.value IS NOT NULL
ORDER BY 1
LIMIT 12
