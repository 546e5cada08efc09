-- What a row of the table takes along when it is deleted or written.
-- {table}  the table
-- > kind   cascade: another table's rows are deleted or changed with it; refers: it refers to another table;
--          trigger: one that is on
-- > name   the other table, or the trigger
SELECT 'cascade' AS kind, CAST(OBJECT_SCHEMA_NAME(k.parent_object_id) + N'.' + OBJECT_NAME(k.parent_object_id)
                               AS nvarchar(300)) AS name
FROM sys.foreign_keys AS k
WHERE k.referenced_object_id = OBJECT_ID({table!literal}, N'U') AND k.delete_referential_action > 0
UNION
SELECT 'refers', CAST(OBJECT_SCHEMA_NAME(k.referenced_object_id) + N'.' + OBJECT_NAME(k.referenced_object_id)
                      AS nvarchar(300))
FROM sys.foreign_keys AS k
WHERE k.parent_object_id = OBJECT_ID({table!literal}, N'U')
UNION
SELECT 'trigger', CAST(t.name AS nvarchar(300))
FROM sys.triggers AS t
WHERE t.parent_id = OBJECT_ID({table!literal}, N'U') AND t.is_disabled = 0
ORDER BY 1, 2
