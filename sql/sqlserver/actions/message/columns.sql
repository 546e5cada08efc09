-- The columns of a table or a view, in order, and whether our role may read each.
-- {table}        the table
-- > table_id     its object id
-- > column_name  the column's name
-- > type_name    its type, with length
-- > kind         its base type, without length
-- > readable     our role may read it
-- > role         our user, quoted
SELECT CAST(c.object_id AS bigint)                                                                   AS table_id,
       CAST(c.name AS nvarchar(128))                                                                 AS column_name,
       CAST(t.name + CASE
           WHEN t.name IN (N'char', N'varchar', N'binary', N'varbinary') THEN
               N'(' + CASE c.max_length WHEN -1 THEN N'max' ELSE CONVERT(nvarchar(10), c.max_length) END + N')'
           WHEN t.name IN (N'nchar', N'nvarchar') THEN
               N'(' + CASE c.max_length WHEN -1 THEN N'max' ELSE CONVERT(nvarchar(10), c.max_length / 2) END + N')'
           WHEN t.name IN (N'decimal', N'numeric') THEN
               N'(' + CONVERT(nvarchar(10), c.precision) + N',' + CONVERT(nvarchar(10), c.scale) + N')'
           WHEN t.name IN (N'datetime2', N'datetimeoffset', N'time') THEN N'(' + CONVERT(nvarchar(10), c.scale) + N')'
           ELSE N''
       END AS nvarchar(160))                                                                         AS type_name,
       CAST(COALESCE(TYPE_NAME(c.system_type_id), t.name) AS nvarchar(128))                          AS kind,
       CAST(CASE WHEN HAS_PERMS_BY_NAME({table!literal}, N'OBJECT', N'SELECT', c.name, N'COLUMN') = 1
                 THEN 1 ELSE 0 END AS bit)                                                           AS readable,
       CAST(QUOTENAME(USER_NAME()) AS nvarchar(260))                                                 AS role
FROM sys.columns AS c
JOIN sys.types AS t ON t.user_type_id = c.user_type_id
WHERE c.object_id = OBJECT_ID({table!literal})
ORDER BY c.column_id
