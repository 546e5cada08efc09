-- The reason why rows of the table are hidden from our role: no row if none are.
-- {table}  the table
-- > kind   hidden
-- > name   the reason why they are hidden
SELECT CAST('hidden' AS text)                                                 AS kind,
       CAST('row-level security: your role sees only some of the rows' AS text)   AS name
WHERE pg_catalog.row_security_active(CAST({table!literal} AS regclass))
