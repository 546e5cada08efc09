-- The columns of a table, a view or a foreign table, in order, and whether our role may read each. Waits for no lock.
-- {table}        the table
-- > table_id     its oid
-- > column_name  the column's name
-- > type_name    its type, with length
-- > kind         its base type, without length
-- > readable     our role may read it
-- > role         our role, quoted
SELECT CAST(a.attrelid AS bigint)                                                                       AS table_id,
       CAST(a.attname AS text)                                                                          AS column_name,
       pg_catalog.format_type(a.atttypid, a.atttypmod)                                                  AS type_name,
       pg_catalog.format_type(CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.oid END, NULL)        AS kind,
       coalesce(pg_catalog.has_column_privilege(a.attrelid, a.attnum, 'SELECT'), false)                 AS readable,
       pg_catalog.quote_ident(CAST(current_user AS text))                                               AS role
FROM pg_catalog.pg_attribute AS a
JOIN pg_catalog.pg_type AS t ON t.oid = a.atttypid
WHERE a.attrelid = CAST({table!literal} AS regclass) AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attnum
