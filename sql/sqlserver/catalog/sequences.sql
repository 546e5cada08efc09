-- Every sequence of the users that our role may see, which includes its position.
-- > sequence_id      its object id
-- > sequence_schema  its schema
-- > sequence_name    its name
-- > readable         our role may read its last value
-- > owned            some column is filled by it
SELECT q.object_id                                                                      AS sequence_id,
       CAST(s.name AS nvarchar(128))                                                    AS sequence_schema,
       CAST(q.name AS nvarchar(128))                                                    AS sequence_name,
       CAST(1 AS bit)                                                                   AS readable,
       CAST(CASE WHEN EXISTS (
           SELECT 1 FROM sys.columns AS c
           WHERE c.default_object_id <> 0
             AND OBJECT_DEFINITION(c.default_object_id)
                 = N'(NEXT VALUE FOR ' + QUOTENAME(s.name) + N'.' + QUOTENAME(q.name) + N')'
       ) THEN 1 ELSE 0 END AS bit)                                                      AS owned
FROM sys.sequences AS q
JOIN sys.schemas AS s ON s.schema_id = q.schema_id
WHERE q.is_ms_shipped = 0
  AND s.name <> N'qmon'
ORDER BY s.name, q.name
