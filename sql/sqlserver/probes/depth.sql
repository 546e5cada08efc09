-- The number of rows that the server counts in one index, without reading a row: the depth of a queue if the index
-- contains only ready rows (all rows of a queue that deletes on pop, or a filtered index on ready rows). The number
-- changes with each written row, before the commit; the documentation calls it approximate. No row for another index.
-- {ready_index?} the index that gives the ready rows
-- :table_id      the table's object id
-- :all_rows      whether every row of the table is ready
-- > counted_at   server clock, seconds since the epoch
-- > ready        rows in the index
SELECT
    CAST(DATEDIFF(DAY, '19700101', t.now) * 86400.0 + DATEDIFF(SECOND, CAST(t.now AS date), t.now) AS float)
        + DATEPART(NANOSECOND, t.now) / 1000000000.0 AS counted_at,
    c.ready
FROM (SELECT SYSUTCDATETIME() AS now) AS t
CROSS JOIN (
    SELECT CAST(SUM(p.rows) AS bigint) AS ready
    FROM sys.indexes AS i
    JOIN sys.partitions AS p ON p.object_id = i.object_id AND p.index_id = i.index_id
    WHERE i.object_id = CAST(:table_id AS int)
        AND (
            (CAST(:all_rows AS bit) = 1 AND i.index_id IN (0, 1))
            OR (CAST(:all_rows AS bit) = 0 AND i.has_filter = 1 AND QUOTENAME(i.name) = {ready_index?!literal})
        )
) AS c
WHERE c.ready IS NOT NULL
