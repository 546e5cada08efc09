-- Tables that inherit from another one, except partitions. Reading the parent reads their rows, too. A table with several
-- parents is listed with the first.
-- > table_id  the table's oid
-- > parent_id its parent's oid
SELECT CAST(i.inhrelid AS bigint) AS table_id, CAST(i.inhparent AS bigint) AS parent_id
FROM pg_catalog.pg_inherits AS i
JOIN pg_catalog.pg_class AS c ON c.oid = i.inhrelid
WHERE c.relkind = 'r'
  AND NOT c.relispartition
  AND i.inhseqno = 1
ORDER BY 1
