-- Foreign keys from and to some tables, one row per column.
-- :tables        oids, separated by commas
-- > table_id     the table that has the foreign key
-- > referred_id  the table that it points to
-- > column_name  a column of the foreign key
SELECT CAST(k.conrelid AS bigint) AS table_id, CAST(k.confrelid AS bigint) AS referred_id,
       CAST(a.attname AS text) AS column_name
FROM pg_catalog.pg_constraint AS k
JOIN pg_catalog.pg_attribute AS a ON a.attrelid = k.conrelid AND a.attnum = ANY (k.conkey)
WHERE k.contype = 'f'
  AND k.conparentid = 0
  AND (k.conrelid = ANY (CAST(string_to_array(:tables, ',') AS oid[]))
       OR k.confrelid = ANY (CAST(string_to_array(:tables, ',') AS oid[])))
ORDER BY 1, 2, 3
