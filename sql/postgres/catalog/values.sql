-- The values of some columns that the catalog shows without reading a row: the labels of an enum, a check on the
-- column, the default, and the most common values and histogram bounds of the last ANALYZE (only if our role may read
-- the column, and if there are at most 33 of them: a column of states has fewer). The server locks a table to print an expression, so the expressions of a table are left out if a session
-- has or waits for an exclusive lock on it.
-- :tables        oids, separated by commas
-- > table_id     the table's oid
-- > column_name  the column
-- > origin       enum, check, default or statistics
-- > known        a JSON array of values; of a check or a default its expression
WITH locked AS MATERIALIZED (
    SELECT l.relation
    FROM pg_catalog.pg_locks AS l
    WHERE l.mode = 'AccessExclusiveLock' AND l.relation IS NOT NULL
),
wanted AS (
    SELECT c.oid, c.relname, n.nspname
    FROM pg_catalog.pg_class AS c
    JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
    WHERE c.oid = ANY (CAST(string_to_array(:tables, ',') AS oid[]))
)
SELECT CAST(w.oid AS bigint) AS table_id, CAST(a.attname AS text) AS column_name, 'enum' AS origin,
       CAST(json_agg(l.enumlabel ORDER BY l.enumsortorder) AS text) AS known
FROM wanted AS w
JOIN pg_catalog.pg_attribute AS a ON a.attrelid = w.oid AND a.attnum > 0 AND NOT a.attisdropped
JOIN pg_catalog.pg_type AS t ON t.oid = a.atttypid
JOIN pg_catalog.pg_enum AS l ON l.enumtypid = CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.oid END
GROUP BY w.oid, a.attname
UNION ALL
SELECT CAST(w.oid AS bigint), CAST(a.attname AS text), 'check', pg_catalog.pg_get_expr(k.conbin, k.conrelid)
FROM wanted AS w
JOIN pg_catalog.pg_constraint AS k ON k.conrelid = w.oid AND k.contype = 'c' AND cardinality(k.conkey) = 1
JOIN pg_catalog.pg_attribute AS a ON a.attrelid = w.oid AND a.attnum = k.conkey[1]
WHERE NOT EXISTS (SELECT FROM locked AS l WHERE l.relation = w.oid)
UNION ALL
SELECT CAST(w.oid AS bigint), CAST(a.attname AS text), 'default', pg_catalog.pg_get_expr(f.adbin, f.adrelid)
FROM wanted AS w
JOIN pg_catalog.pg_attrdef AS f ON f.adrelid = w.oid
JOIN pg_catalog.pg_attribute AS a ON a.attrelid = w.oid AND a.attnum = f.adnum AND a.attgenerated = ''
WHERE NOT EXISTS (SELECT FROM locked AS l WHERE l.relation = w.oid)
UNION ALL
SELECT CAST(w.oid AS bigint), CAST(s.attname AS text), 'statistics',
       CAST(json_agg(v.value ORDER BY v.place) AS text)
FROM wanted AS w
JOIN pg_catalog.pg_stats AS s ON s.schemaname = w.nspname AND s.tablename = w.relname AND NOT s.inherited
CROSS JOIN LATERAL (
    SELECT u.value, min(u.place) AS place
    FROM unnest(array_cat(
        coalesce(CAST(CAST(s.most_common_vals AS text) AS text[]), CAST('{}' AS text[])),
        coalesce(CAST(CAST(s.histogram_bounds AS text) AS text[]), CAST('{}' AS text[]))
    )) WITH ORDINALITY AS u (value, place)
    GROUP BY u.value
) AS v
WHERE s.avg_width <= 40
GROUP BY w.oid, s.attname
HAVING count(*) <= 33
ORDER BY 1, 2, 3
