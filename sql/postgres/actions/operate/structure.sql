-- The columns of a queue's table, in order; no rows if it is not an ordinary or partitioned table. A parent of
-- inherited tables does not count: rows taken out of a child would be put back into the parent.
-- {table}        the table
-- > column_name  the column's name
-- > type_name    its type, with length
-- > generated    the server computes it: it cannot be written
-- > lost         its value cannot be kept at all
-- > not_null     it takes no NULL
SELECT CAST(a.attname AS text)                                    AS column_name,
       pg_catalog.format_type(a.atttypid, a.atttypmod)            AS type_name,
       a.attgenerated <> ''                                       AS generated,
       false                                                      AS lost,
       a.attnotnull                                               AS not_null
FROM pg_catalog.pg_class AS c
JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
WHERE c.oid = CAST({table!literal} AS regclass)
  AND (c.relkind = 'p' OR c.relkind = 'r' AND NOT c.relhassubclass)
ORDER BY a.attnum
