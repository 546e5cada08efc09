-- The procedures whose text names one of the given tables. Only the name of a procedure shows its purpose. Needs VIEW
-- DEFINITION, and SELECT on sys.sql_expression_dependencies, which only db_owner has by itself. A dynamic statement
-- names nothing.
-- :tables        table ids, separated by commas
-- > table_id     the table
-- > procedure_id the procedure's object id
-- > schema       its schema
-- > name         its name
WITH wanted AS (
    SELECT v.item.value('.', 'int') AS object_id
    FROM (
        SELECT CAST(N'<i>' + REPLACE(CAST(:tables AS nvarchar(max)), N',', N'</i><i>') + N'</i>' AS xml) AS list
    ) AS l
    CROSS APPLY l.list.nodes('/i') AS v(item)
)
SELECT DISTINCT TOP (1000)
    CAST(d.referenced_id AS bigint) AS table_id,
    CAST(p.object_id AS bigint) AS procedure_id,
    CAST(s.name AS nvarchar(128)) AS [schema],
    CAST(p.name AS nvarchar(128)) AS name
FROM sys.sql_expression_dependencies AS d
JOIN sys.procedures AS p ON p.object_id = d.referencing_id
JOIN sys.schemas AS s ON s.schema_id = p.schema_id
WHERE d.referencing_class = 1
    AND d.referenced_class = 1
    AND d.referenced_id IN (SELECT w.object_id FROM wanted AS w)
ORDER BY table_id, procedure_id
