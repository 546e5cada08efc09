-- Some tables and sequences to grant rights on. Does not read rights: granting them again does nothing.
-- :objects             object ids, separated by commas
-- > object_schema      schema of the table or sequence
-- > object_name        its name
-- > is_sequence        it is a sequence
-- > monitor_schema     always 1: a schema needs no right of its own
-- > monitor_object     always 0: granted again
-- > operator_object    always 0: granted again
SELECT CAST(SCHEMA_NAME(o.schema_id) AS nvarchar(128))                                  AS object_schema,
       CAST(o.name AS nvarchar(128))                                                    AS object_name,
       CAST(CASE WHEN o.type = 'SO' THEN 1 ELSE 0 END AS bit)                           AS is_sequence,
       CAST(1 AS bit)                                                                   AS monitor_schema,
       CAST(0 AS bit)                                                                   AS monitor_object,
       CAST(0 AS bit)                                                                   AS operator_object
FROM sys.objects AS o
WHERE o.object_id IN (
    SELECT v.item.value('.', 'int')
    FROM (
        SELECT CAST(N'<i>' + REPLACE(CAST(:objects AS nvarchar(max)), N',', N'</i><i>') + N'</i>' AS xml) AS list
    ) AS l
    CROSS APPLY l.list.nodes('/i') AS v(item)
)
ORDER BY object_schema, object_name
