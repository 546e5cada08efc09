-- The key columns of the usable ordered indexes of some tables, one row a column.
-- :tables        oids, separated by commas
-- > table_id     the table's oid
-- > index_name   the index's name
-- > is_unique    no two rows have the same key
-- > is_primary   it is the primary key
-- > position     1 is the leading column
-- > column_name  the column; NULL where an expression is indexed
-- > predicate    of a partial index: which rows it holds, as SQL; else NULL
SELECT CAST(i.indrelid AS bigint)                                           AS table_id,
       CAST(x.relname AS text)                                              AS index_name,
       i.indisunique                                                        AS is_unique,
       i.indisprimary                                                       AS is_primary,
       CAST(k.position AS integer)                                          AS position,
       CAST(a.attname AS text)                                              AS column_name,
       pg_catalog.pg_get_expr(i.indpred, i.indrelid)                        AS predicate
FROM pg_catalog.pg_index AS i
JOIN pg_catalog.pg_class AS x ON x.oid = i.indexrelid
JOIN pg_catalog.pg_am AS m ON m.oid = x.relam AND m.amname = 'btree'
CROSS JOIN LATERAL unnest(CAST(CAST(i.indkey AS int2[]) AS int2[])) WITH ORDINALITY AS k (attnum, position)
LEFT JOIN pg_catalog.pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = k.attnum AND k.attnum > 0
WHERE i.indrelid = ANY (CAST(string_to_array(:tables, ',') AS oid[]))
  AND i.indisvalid AND i.indislive
  AND k.position <= i.indnkeyatts
ORDER BY i.indrelid, x.relname, k.position
