-- The distinct values of a column among the first 50,000 rows, if the whole table is at most 4 MB now.
-- {table}    the table
-- {column}   the column
-- :table_id  the table's object id
-- > value    one value as text
SELECT DISTINCT TOP (33) CAST(few.value AS nvarchar(100)) AS value
FROM (
    SELECT TOP (50000) t.{column} AS value
    FROM {table} AS t
    WHERE (
        SELECT SUM(a.total_pages)
        FROM sys.partitions AS r
        JOIN sys.allocation_units AS a ON a.container_id = r.hobt_id AND a.type IN (1, 3)
        WHERE r.object_id = :table_id AND r.index_id IN (0, 1)
    ) <= 512
) AS few
WHERE few.value IS NOT NULL
ORDER BY value
