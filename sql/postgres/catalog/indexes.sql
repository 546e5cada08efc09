-- The key columns of the usable ordered indexes of some tables, one row per column. The server locks a table to print a
-- predicate, so the predicates of a table are left out if a session has or waits for an exclusive lock on it.
-- :tables        oids, separated by commas
-- > table_id     the table's oid
-- > index_name   the index's name
-- > is_unique    no two rows have the same key
-- > is_primary   it is the primary key
-- > is_partial   it does not hold every row
-- > is_ordered   always true: an index of a partition is one by itself
-- > position     1 is the leading column
-- > column_name  the column; NULL where an expression is indexed
-- > predicate    the condition of a partial index, as SQL; NULL if it was left out
WITH locked AS MATERIALIZED (
    SELECT l.relation
    FROM pg_catalog.pg_locks AS l
    WHERE l.mode = 'AccessExclusiveLock' AND l.relation IS NOT NULL
)
SELECT CAST(i.indrelid AS bigint)                                           AS table_id,
       CAST(x.relname AS text)                                              AS index_name,
       coalesce(i.indisunique)                                              AS is_unique,
       coalesce(i.indisprimary)                                             AS is_primary,
       i.indpred IS NOT NULL                                                AS is_partial,
       true                                                                 AS is_ordered,
       CAST(k.position AS integer)                                          AS position,
       CAST(a.attname AS text)                                              AS column_name,
       CASE WHEN i.indpred IS NOT NULL
                 AND NOT EXISTS (SELECT FROM locked AS l WHERE l.relation = i.indrelid)
            THEN pg_catalog.pg_get_expr(i.indpred, i.indrelid) END          AS predicate
FROM pg_catalog.pg_index AS i
JOIN pg_catalog.pg_class AS x ON x.oid = i.indexrelid
JOIN pg_catalog.pg_am AS m ON m.oid = x.relam AND m.amname = 'btree'
CROSS JOIN LATERAL unnest(CAST(i.indkey AS int2[])) WITH ORDINALITY AS k (attnum, position)
LEFT JOIN pg_catalog.pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = k.attnum AND k.attnum > 0
WHERE i.indrelid = ANY (CAST(string_to_array(:tables, ',') AS oid[]))
  AND i.indisvalid AND i.indislive
  AND k.position <= i.indnkeyatts
ORDER BY i.indrelid, x.relname, k.position
