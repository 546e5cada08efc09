-- The gate of a table, if the table has one: a trigger whose switch is in qmon.gates.
-- {table}        the table
-- {gate}         the name of the trigger
-- > gate_schema  of the trigger
-- > gate_name    the trigger
-- > enabled      the trigger fires
SELECT CAST(SCHEMA_NAME(o.schema_id) AS nvarchar(128)) AS gate_schema,
       CAST(t.name AS nvarchar(128))                    AS gate_name,
       CAST(1 - t.is_disabled AS bit)                   AS enabled
FROM sys.triggers AS t
JOIN sys.objects AS o ON o.object_id = t.object_id
WHERE t.object_id = OBJECT_ID({gate!literal})
    AND t.parent_id = OBJECT_ID({table!literal})
