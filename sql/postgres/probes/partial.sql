-- Of which tables row level security shows our role a part of the rows at most; reads no table.
-- :tables    table ids as an array, {1,2}
-- > table_id one of these
-- > why      what hides the rest
-- > helps    who sees all
SELECT
    CAST(t.id AS bigint) AS table_id,
    CAST('row level security: our role sees a part of the rows' AS text) AS why,
    CAST('an owner of the table, or BYPASSRLS, sees all' AS text) AS helps
FROM unnest(CAST(:tables AS oid[])) AS t(id)
WHERE row_security_active(t.id)
