-- The columns of one table, for servers that take no list of tables; otherwise like "columns".
-- :table_id         the table's object id
-- > table_id        as asked
-- > column_name     the column's name
-- > type_name       its base type, without length
-- > not_null        it takes no NULL
-- > sequence_id     NULL: not looked for
-- > sequence_schema NULL: not looked for
-- > sequence_name   NULL: not looked for
-- > is_identity     it is an identity column
SELECT c.object_id                                                                      AS table_id,
       CAST(c.name AS nvarchar(128))                                                    AS column_name,
       CAST(COALESCE(TYPE_NAME(c.system_type_id), TYPE_NAME(c.user_type_id)) AS nvarchar(128)) AS type_name,
       CAST(CASE WHEN c.is_nullable = 0 THEN 1 ELSE 0 END AS bit)                       AS not_null,
       CAST(NULL AS int)                                                                AS sequence_id,
       CAST(NULL AS nvarchar(128))                                                      AS sequence_schema,
       CAST(NULL AS nvarchar(128))                                                      AS sequence_name,
       c.is_identity                                                                    AS is_identity
FROM sys.columns AS c
WHERE c.object_id = CAST(:table_id AS int)
ORDER BY c.column_id
