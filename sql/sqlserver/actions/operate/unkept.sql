-- Columns of a table whose exact values this login cannot move, keep or compare. Before 2016, there are no masks, and
-- clients do not encrypt columns.
-- {table}        the table
-- > column_name  the column
-- > masked       the server shows other values than there are
-- > why          why it cannot be kept
-- > helps        what to do
SELECT CAST(c.name AS nvarchar(128))  AS column_name,
       CAST(w.masked AS bit)          AS masked,
       CAST(w.why AS nvarchar(200))   AS why,
       CAST(w.helps AS nvarchar(800)) AS helps
FROM sys.columns AS c
JOIN sys.types AS t ON t.user_type_id = c.user_type_id
CROSS APPLY (
    SELECT 0 AS masked, N'this login may not read it' AS why,
           N'GRANT SELECT ON OBJECT::' + {table!literal} + N' TO ' + QUOTENAME(USER_NAME()) AS helps
    WHERE COALESCE(HAS_PERMS_BY_NAME({table!literal}, N'OBJECT', N'SELECT', c.name, N'COLUMN'), 0) = 0
    UNION ALL
    SELECT 0, N'qmon cannot compare values of its type', N'a column of another type'
    WHERE t.is_assembly_type = 1 OR c.xml_collection_id <> 0
) AS w
WHERE c.object_id = OBJECT_ID({table!literal}, N'U')
ORDER BY c.column_id
