-- The CHECK constraints that combine a table's state with other columns, one row for each other column.
-- {table}        the table
-- :state         column: the state
-- > name         the constraint
-- > column_name  another column that it looks at
SELECT CAST(k.conname AS text) AS name, CAST(a.attname AS text) AS column_name
FROM pg_catalog.pg_constraint AS k
JOIN pg_catalog.pg_attribute AS a ON a.attrelid = k.conrelid AND a.attnum = ANY (k.conkey)
WHERE k.contype = 'c'
  AND k.conrelid = CAST({table!literal} AS regclass)
  AND a.attname <> CAST(:state AS text)
  AND EXISTS (
      SELECT FROM pg_catalog.pg_attribute AS s
      WHERE s.attrelid = k.conrelid AND s.attnum = ANY (k.conkey) AND s.attname = CAST(:state AS text)
  )
ORDER BY 1, 2
