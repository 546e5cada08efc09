-- The tables that store the rows of a table: the table itself, or its partitions at all levels.
-- {table}         the table
-- > place_schema  of one of them
-- > place_name    its name
SELECT CAST(n.nspname AS text) AS place_schema, CAST(c.relname AS text) AS place_name
FROM pg_catalog.pg_class AS c
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.relkind <> 'p'
  AND (c.oid = to_regclass({table!literal})
       OR c.oid IN (SELECT t.relid FROM pg_partition_tree(to_regclass({table!literal})) AS t WHERE t.isleaf))
ORDER BY 1, 2
