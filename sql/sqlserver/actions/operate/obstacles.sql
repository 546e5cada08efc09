-- What a row of the table takes along, and what may keep it from being deleted or written.
-- {table}  the table
-- :state   the column of the state, where that is to change; else NULL
-- > kind   cascade: another table's rows are deleted or changed with it; referred: another table's rows keep it from
--          being deleted; refers: it refers to another table; unique: an index that covers the state; trigger: one that
--          is on; before insert, update or delete: one that stands in for the statement
-- > name   the other table and the constraint, the trigger or the index
DECLARE @state nvarchar(128) = :state;
SELECT CASE WHEN k.delete_referential_action > 0 THEN 'cascade' ELSE 'referred' END AS kind,
       CAST(OBJECT_SCHEMA_NAME(k.parent_object_id) + N'.' + OBJECT_NAME(k.parent_object_id)
            + CASE WHEN k.delete_referential_action > 0 THEN N'' ELSE N' (' + k.name + N')' END
            AS nvarchar(400)) AS name
FROM sys.foreign_keys AS k
WHERE k.referenced_object_id = OBJECT_ID({table!literal}, N'U') AND k.is_disabled = 0
UNION
SELECT 'refers', CAST(OBJECT_SCHEMA_NAME(k.referenced_object_id) + N'.' + OBJECT_NAME(k.referenced_object_id)
                      AS nvarchar(400))
FROM sys.foreign_keys AS k
WHERE k.parent_object_id = OBJECT_ID({table!literal}, N'U')
UNION
SELECT 'unique', CAST(i.name AS nvarchar(400))
FROM sys.indexes AS i
WHERE i.object_id = OBJECT_ID({table!literal}, N'U') AND i.is_unique = 1 AND i.is_disabled = 0
    AND (CHARINDEX(QUOTENAME(@state), i.filter_definition) > 0
         OR EXISTS (
             SELECT 1
             FROM sys.index_columns AS k
             JOIN sys.columns AS c ON c.object_id = k.object_id AND c.column_id = k.column_id
             WHERE k.object_id = i.object_id AND k.index_id = i.index_id AND k.key_ordinal > 0 AND c.name = @state
         ))
UNION
SELECT 'trigger', CAST(t.name AS nvarchar(400))
FROM sys.triggers AS t
WHERE t.parent_id = OBJECT_ID({table!literal}, N'U') AND t.is_disabled = 0
UNION
SELECT e.kind, CAST(t.name AS nvarchar(400))
FROM sys.triggers AS t
JOIN (
    SELECT 'before insert' AS kind, 'ExecIsInsertTrigger' AS property
    UNION ALL SELECT 'before update', 'ExecIsUpdateTrigger'
    UNION ALL SELECT 'before delete', 'ExecIsDeleteTrigger'
) AS e ON OBJECTPROPERTY(t.object_id, e.property) = 1
WHERE t.parent_id = OBJECT_ID({table!literal}, N'U') AND t.is_disabled = 0 AND t.is_instead_of_trigger = 1
ORDER BY 1, 2
