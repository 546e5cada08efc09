-- Foreign keys from and to some tables.
-- :tables        oids, separated by commas
-- > table_id     the table that has the foreign key
-- > referred_id  the table that it points to
SELECT CAST(k.conrelid AS bigint) AS table_id, CAST(k.confrelid AS bigint) AS referred_id
FROM pg_catalog.pg_constraint AS k
WHERE k.contype = 'f'
  AND k.conparentid = 0
  AND (k.conrelid = ANY (CAST(string_to_array(:tables, ',') AS oid[]))
       OR k.confrelid = ANY (CAST(string_to_array(:tables, ',') AS oid[])))
ORDER BY 1, 2
