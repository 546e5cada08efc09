-- The values of some columns that the catalog shows without reading a row: the default of a column, and the checks that
-- name the column.
-- :tables        object ids, separated by commas
-- > table_id     the table's object id
-- > column_name  the column
-- > origin       check or default
-- > known        the expression
WITH wanted AS (
    SELECT v.item.value('.', 'int') AS object_id
    FROM (
        SELECT CAST(N'<i>' + REPLACE(CAST(:tables AS nvarchar(max)), N',', N'</i><i>') + N'</i>' AS xml) AS list
    ) AS l
    CROSS APPLY l.list.nodes('/i') AS v(item)
)
SELECT c.object_id                                              AS table_id,
       CAST(c.name AS nvarchar(128))                            AS column_name,
       CAST(N'default' AS nvarchar(20))                         AS origin,
       CAST(OBJECT_DEFINITION(c.default_object_id) AS nvarchar(4000)) AS known
FROM sys.columns AS c
JOIN wanted AS w ON w.object_id = c.object_id
WHERE c.default_object_id <> 0 AND OBJECT_DEFINITION(c.default_object_id) IS NOT NULL
UNION ALL
SELECT c.object_id, CAST(c.name AS nvarchar(128)), CAST(N'check' AS nvarchar(20)),
       CAST(OBJECT_DEFINITION(k.object_id) AS nvarchar(4000))
FROM sys.objects AS k
JOIN wanted AS w ON w.object_id = k.parent_object_id
JOIN sys.columns AS c ON c.object_id = k.parent_object_id
WHERE k.type = 'C' AND CHARINDEX(QUOTENAME(c.name), OBJECT_DEFINITION(k.object_id)) > 0
ORDER BY table_id, column_name, origin
