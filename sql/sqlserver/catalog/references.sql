-- Foreign keys from and to some tables, one row per column.
-- :tables        object ids, separated by commas
-- > table_id     the table that has the foreign key
-- > referred_id  the table that it points to
-- > column_name  a column of the foreign key
WITH wanted AS (
    SELECT v.item.value('.', 'int') AS object_id
    FROM (
        SELECT CAST(N'<i>' + REPLACE(CAST(:tables AS nvarchar(max)), N',', N'</i><i>') + N'</i>' AS xml) AS list
    ) AS l
    CROSS APPLY l.list.nodes('/i') AS v(item)
)
SELECT k.parent_object_id AS table_id, k.referenced_object_id AS referred_id,
       CAST(c.name AS nvarchar(128)) AS column_name
FROM sys.foreign_key_columns AS k
JOIN sys.columns AS c ON c.object_id = k.parent_object_id AND c.column_id = k.parent_column_id
WHERE k.parent_object_id IN (SELECT w.object_id FROM wanted AS w)
   OR k.referenced_object_id IN (SELECT w.object_id FROM wanted AS w)
ORDER BY k.parent_object_id, k.referenced_object_id, c.name
