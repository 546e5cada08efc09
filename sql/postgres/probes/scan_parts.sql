-- The tables that store the rows of a queue: the table itself, or its partitions and children. The size of each table
-- allows reading it in ranges. Reads no row.
-- :table_id     the table's oid
-- > part_id     oid
-- > part_schema its schema
-- > part_name   its name
-- > pages       pages of its rows; NULL if it has no pages to read (a foreign table, a view), or our role may not read
--               them by themselves, or not all of them
-- > rows_there  NULL: not needed here
-- > place       NULL: its rows are known by their pages
WITH RECURSIVE part AS (
    SELECT CAST(:table_id AS oid) AS id
    UNION
    SELECT i.inhrelid
    FROM part AS p
    JOIN pg_inherits AS i ON i.inhparent = p.id
)
SELECT
    CAST(c.oid AS bigint) AS part_id,
    CAST(n.nspname AS text) AS part_schema,
    CAST(c.relname AS text) AS part_name,
    CASE WHEN c.relkind IN ('r', 'm') AND (
        c.oid = CAST(:table_id AS oid)
        -- Our role's rights on a parent apply to its partitions only if they are read through it.
        OR has_any_column_privilege(c.oid, 'SELECT')
            AND has_schema_privilege(c.relnamespace, 'USAGE')
            AND NOT row_security_active(c.oid)
    ) THEN
        pg_relation_size(c.oid) / CAST(current_setting('block_size') AS bigint)
    END AS pages,
    CAST(NULL AS bigint) AS rows_there,
    CAST(NULL AS text) AS place
FROM part AS p
JOIN pg_class AS c ON c.oid = p.id
JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.relkind <> 'p'
ORDER BY c.oid
