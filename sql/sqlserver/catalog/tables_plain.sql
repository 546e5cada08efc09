-- Every table of the users, for servers that do not show the size of tables; otherwise like "tables".
-- > table_id        its object id
-- > table_schema    its schema
-- > table_name      its name
-- > visible         found without naming the schema
-- > readable        our role may read it
-- > estimated_rows  NULL: unknown
-- > pages           always 0: not known
SELECT t.object_id                                                                      AS table_id,
       CAST(s.name AS nvarchar(128))                                                    AS table_schema,
       CAST(t.name AS nvarchar(128))                                                    AS table_name,
       CAST(CASE WHEN s.name = SCHEMA_NAME() THEN 1 ELSE 0 END AS bit)                  AS visible,
       CAST(COALESCE(HAS_PERMS_BY_NAME(QUOTENAME(s.name) + N'.' + QUOTENAME(t.name), N'OBJECT', N'SELECT'), 0) AS bit)
                                                                                        AS readable,
       CAST(NULL AS bigint)                                                             AS estimated_rows,
       CAST(0 AS bigint)                                                                AS pages
FROM sys.tables AS t
JOIN sys.schemas AS s ON s.schema_id = t.schema_id
WHERE t.is_ms_shipped = 0
  AND s.name <> N'qmon'
ORDER BY s.name, t.name
