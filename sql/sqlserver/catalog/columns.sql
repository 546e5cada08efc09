-- The columns of some tables, with the sequence that fills each one by default. An identity has no sequence here.
-- :tables           object ids, separated by commas
-- > table_id        the table's object id
-- > column_name     the column's name
-- > type_name       its base type, without length
-- > not_null        it takes no NULL
-- > sequence_id     object id of the sequence that fills it; NULL if there is none
-- > sequence_schema that sequence's schema
-- > sequence_name   that sequence's name
-- > is_identity     it is an identity column
SELECT c.object_id                                                                      AS table_id,
       CAST(c.name AS nvarchar(128))                                                    AS column_name,
       CAST(COALESCE(TYPE_NAME(c.system_type_id), TYPE_NAME(c.user_type_id)) AS nvarchar(128)) AS type_name,
       CAST(CASE WHEN c.is_nullable = 0 THEN 1 ELSE 0 END AS bit)                       AS not_null,
       q.object_id                                                                      AS sequence_id,
       CAST(SCHEMA_NAME(q.schema_id) AS nvarchar(128))                                  AS sequence_schema,
       CAST(q.name AS nvarchar(128))                                                    AS sequence_name,
       c.is_identity                                                                    AS is_identity
FROM sys.columns AS c
LEFT JOIN sys.sequences AS q
       ON c.default_object_id <> 0
      AND OBJECT_DEFINITION(c.default_object_id)
          = N'(NEXT VALUE FOR ' + QUOTENAME(SCHEMA_NAME(q.schema_id)) + N'.' + QUOTENAME(q.name) + N')'
WHERE c.object_id IN (
    SELECT v.item.value('.', 'int')
    FROM (
        SELECT CAST(N'<i>' + REPLACE(CAST(:tables AS nvarchar(max)), N',', N'</i><i>') + N'</i>' AS xml) AS list
    ) AS l
    CROSS APPLY l.list.nodes('/i') AS v(item)
)
ORDER BY c.object_id, c.column_id
