-- The tables that keep what an undo needs.
-- :kind        trash or kept; NULL: both
-- :about       the table whose rows it keeps; NULL: all
-- > store      its number, which ends its name
-- > kind       trash or kept
-- > about      the table whose rows it keeps
-- > structure  its columns as JSON
-- > operator   the role qmon_operator exists
SELECT s.store, s.kind, s.about, s.structure,
       CAST(CASE WHEN DATABASE_PRINCIPAL_ID(N'qmon_operator') IS NOT NULL THEN 1 ELSE 0 END AS bit) AS operator
FROM qmon.stores AS s
CROSS JOIN (SELECT CAST(:kind AS varchar(20)) AS kind, CAST(:about AS nvarchar(600)) AS about) AS a
WHERE (a.kind IS NULL OR s.kind = a.kind) AND (a.about IS NULL OR s.about = a.about)
ORDER BY s.store
