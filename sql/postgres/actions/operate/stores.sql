-- The tables that keep rows for an undo.
-- :kind        trash or kept; NULL: both
-- :about       the table of the kept rows; NULL: all tables
-- > store      its number, which ends its name
-- > kind       trash or kept
-- > about      the table of the kept rows
-- > structure  its columns as JSON
-- > schema     the schema that it is in
SELECT s.store, s.kind, s.about, s.structure,
       'qmon' AS schema
FROM qmon.stores AS s
WHERE (CAST(:kind AS text) IS NULL OR s.kind = :kind) AND (CAST(:about AS text) IS NULL OR s.about = :about)
ORDER BY s.store
