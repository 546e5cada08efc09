-- The keys of a queue's table: the primary key, and other unique keys of columns without NULL. One row per column.
-- {table}        the table
-- > name         the index's name
-- > is_primary   it is the primary key
-- > position     1 is the leading column
-- > column_name  the column
SELECT CAST(x.relname AS text)        AS name,
       i.indisprimary                 AS is_primary,
       CAST(k.position AS integer)    AS position,
       CAST(a.attname AS text)        AS column_name
FROM pg_catalog.pg_index AS i
JOIN pg_catalog.pg_class AS x ON x.oid = i.indexrelid
CROSS JOIN LATERAL unnest(CAST(i.indkey AS int2[])) WITH ORDINALITY AS k (attnum, position)
JOIN pg_catalog.pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
WHERE i.indrelid = CAST({table!literal} AS regclass)
  AND i.indisunique AND i.indisvalid AND i.indislive AND i.indpred IS NULL AND i.indexprs IS NULL
  AND k.position <= i.indnkeyatts
  AND NOT EXISTS (
      SELECT FROM unnest(CAST(i.indkey AS int2[])) WITH ORDINALITY AS n (attnum, position)
      JOIN pg_catalog.pg_attribute AS c ON c.attrelid = i.indrelid AND c.attnum = n.attnum
      WHERE n.position <= i.indnkeyatts AND NOT c.attnotnull
  )
ORDER BY 1, 3
