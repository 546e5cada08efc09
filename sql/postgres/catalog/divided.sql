-- The columns that decide the partition of a row. If such a column changes, the row moves: the server counts an insert
-- and a delete. Columns within an expression are not listed.
-- > table_id    the topmost parent's oid
-- > column_name the column
WITH RECURSIVE part AS (
    SELECT t.partrelid AS table_id, t.partrelid AS id
    FROM pg_catalog.pg_partitioned_table AS t
    JOIN pg_catalog.pg_class AS c ON c.oid = t.partrelid AND NOT c.relispartition
    UNION ALL
    SELECT p.table_id, i.inhrelid
    FROM part AS p
    JOIN pg_catalog.pg_inherits AS i ON i.inhparent = p.id
)
SELECT DISTINCT CAST(p.table_id AS bigint) AS table_id, CAST(a.attname AS text) AS column_name
FROM part AS p
JOIN pg_catalog.pg_partitioned_table AS t ON t.partrelid = p.id
JOIN pg_catalog.pg_attribute AS a ON a.attrelid = t.partrelid AND a.attnum = ANY (CAST(t.partattrs AS int2[]))
WHERE a.attnum > 0
ORDER BY 1, 2
