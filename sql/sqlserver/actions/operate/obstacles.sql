-- The effects of deleting or changing a row of the table, and obstacles to that.
-- {table}  the table
-- :state   the column of the state, if the state changes; otherwise NULL
-- > kind   cascade: another table's rows are deleted or changed with it; referred: another table's rows keep it from
--          being deleted; refers: it refers to another table; unique: an index that covers the state; trigger: one that
--          is on; on delete: one that fires then; before insert, update or delete: one that replaces the statement;
--          too wide: why its rows do not fit into the trash
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
    SELECT 'before insert' AS kind, 'ExecIsInsertTrigger' AS property, 1 AS stands_in
    UNION ALL SELECT 'before update', 'ExecIsUpdateTrigger', 1
    UNION ALL SELECT 'before delete', 'ExecIsDeleteTrigger', 1
    UNION ALL SELECT 'on delete', 'ExecIsDeleteTrigger', 0
) AS e ON OBJECTPROPERTY(t.object_id, e.property) = 1 AND t.is_instead_of_trigger = e.stands_in
WHERE t.parent_id = OBJECT_ID({table!literal}, N'U') AND t.is_disabled = 0
UNION
SELECT 'too wide',
       CASE WHEN w.columns + 3 > 1024
            THEN N'its ' + CONVERT(nvarchar(10), w.columns)
                 + N' columns and 3 of the trash are more than the 1024 that a table can have'
            ELSE N'its rows have ' + CONVERT(nvarchar(10), w.bytes)
                 + N' bytes or more with the columns of the trash, and the server stores 8060' END
FROM (
    -- A row has 6 bytes of its own, the bitmap of NULLs, and with columns that vary in length 2 bytes and 2 for each. The
    -- trash adds 16 bytes of fixed length and a text.
    SELECT COUNT(*) AS columns,
           6 + (COUNT(*) + 3 + 7) / 8 + 2 + 2 * (SUM(f.varies) + 1) + SUM(f.bytes) + (SUM(f.bits) + 7) / 8 + 16 AS bytes
    FROM sys.columns AS c
    CROSS APPLY (
        SELECT CASE WHEN TYPE_NAME(c.system_type_id) IN (N'varchar', N'nvarchar', N'varbinary', N'sql_variant', N'text',
                                                         N'ntext', N'image', N'xml')
                         OR c.system_type_id = 240 THEN 1 ELSE 0 END AS varies
    ) AS v
    CROSS APPLY (
        SELECT v.varies,
               CASE WHEN v.varies = 1 OR c.system_type_id = 104 THEN 0 ELSE CAST(c.max_length AS int) END AS bytes,
               CASE WHEN c.system_type_id = 104 THEN 1 ELSE 0 END AS bits
    ) AS f
    WHERE c.object_id = OBJECT_ID({table!literal}, N'U') AND c.system_type_id <> 189
) AS w
WHERE w.columns + 3 > 1024 OR w.bytes > 8060
ORDER BY 1, 2
