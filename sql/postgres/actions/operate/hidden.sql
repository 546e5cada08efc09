-- What hides rows of the table from our role: no row where nothing does.
-- {table}  the table
-- > kind   hidden
-- > name   what hides them
SELECT CAST('hidden' AS text)                                                 AS kind,
       CAST('row-level security: your role sees only some of the rows' AS text)   AS name
WHERE pg_catalog.row_security_active(CAST({table!literal} AS regclass))
