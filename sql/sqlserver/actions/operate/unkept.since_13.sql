-- Columns of a table whose exact values this login cannot move, keep or compare. A column computed from a masked column
-- is masked, too.
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
    UNION ALL
    SELECT 1, N'it is masked for this login', N'GRANT UNMASK TO ' + QUOTENAME(USER_NAME())
    FROM sys.columns AS m
    WHERE m.object_id = c.object_id
        AND m.is_masked = 1
        AND (
            c.column_id = m.column_id
            OR EXISTS (
                SELECT 1
                FROM sys.computed_columns AS d
                WHERE d.object_id = c.object_id
                    AND d.column_id = c.column_id
                    AND (d.definition IS NULL OR CHARINDEX(QUOTENAME(m.name), d.definition) > 0)
            )
        )
        AND COALESCE(HAS_PERMS_BY_NAME(QUOTENAME(DB_NAME()), N'DATABASE', N'UNMASK'), 0) = 0
    UNION ALL
    SELECT 0, N'its clients encrypt it (Always Encrypted)', N'a client that has its keys'
    WHERE c.encryption_type IS NOT NULL
) AS w
WHERE c.object_id = OBJECT_ID({table!literal}, N'U')
ORDER BY c.column_id
