-- The tables that keep what an undo needs.
-- :kind        trash or kept; NULL: both
-- :about       the table whose rows it keeps; NULL: all
-- > store      its number, which ends its name
-- > kind       trash or kept
-- > about      the table whose rows it keeps
-- > structure  its columns as JSON
-- > operator   the role qmon_operator exists
-- > schema     the schema that it is in
SELECT s.store, s.kind, s.about, s.structure,
       EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'qmon_operator') AS operator,
       'qmon' AS schema
FROM qmon.stores AS s
WHERE (CAST(:kind AS text) IS NULL OR s.kind = :kind) AND (CAST(:about AS text) IS NULL OR s.about = :about)
ORDER BY s.store
