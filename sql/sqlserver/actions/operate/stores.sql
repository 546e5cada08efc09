-- The tables that keep rows for an undo. A store with a trigger is left out, because the trigger would run with the
-- rights of the next operator.
-- :kind        trash or kept; NULL: both
-- :about       the table of the kept rows; NULL: all tables
-- > store      its number, which ends its name
-- > kind       trash or kept
-- > about      the table of the kept rows
-- > structure  its columns as JSON
-- > schema     the schema that it is in
SELECT s.store, s.kind, s.about, s.structure,
       CAST(N'qmon_store' AS nvarchar(128)) AS [schema]
FROM qmon.stores AS s
CROSS JOIN (SELECT CAST(:kind AS varchar(20)) AS kind, CAST(:about AS nvarchar(600)) AS about) AS a
WHERE NOT EXISTS (
        SELECT 1
        FROM sys.triggers AS t
        WHERE t.parent_id = OBJECT_ID(N'qmon_store.' + s.kind + N'_' + CONVERT(nvarchar(11), s.store))
    )
    AND (a.kind IS NULL OR s.kind = a.kind) AND (a.about IS NULL OR s.about = a.about)
ORDER BY s.store
