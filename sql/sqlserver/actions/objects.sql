-- The given names that exist in a schema, with their kinds, and the schema itself, if it exists. Names are compared by
-- the database's collation, which decides whether an object can be created. Index names are unique only within a table.
-- Does not use OPENJSON, because databases with an older compatibility level lack it.
-- :schema  the schema
-- :names   the names, as a JSON array
-- > kind   schema, table, view, index, key, sequence, type, function or procedure
-- > name   its name
WITH given AS (
    SELECT CAST(:schema AS nvarchar(128)) AS home, CAST(:names AS nvarchar(max)) AS names
),
known AS (
    SELECT CASE
               WHEN o.type = 'U' THEN 'table'
               WHEN o.type = 'V' THEN 'view'
               WHEN o.type = 'SO' THEN 'sequence'
               WHEN o.type IN ('PK', 'UQ', 'F', 'C', 'D') THEN 'key'
               WHEN o.type IN ('FN', 'IF', 'TF', 'FS', 'FT', 'AF') THEN 'function'
               WHEN o.type IN ('P', 'PC', 'X') THEN 'procedure'
               ELSE 'object'
           END     AS kind,
           o.name,
           o.schema_id,
           CAST(NULL AS sysname) AS home_name
    FROM sys.objects AS o
    UNION ALL
    SELECT 'type', t.name, t.schema_id, CAST(NULL AS sysname)
    FROM sys.types AS t
    WHERE t.is_user_defined = 1
    UNION ALL
    SELECT 'index', i.name, o.schema_id, o.name
    FROM sys.indexes AS i
    JOIN sys.objects AS o ON o.object_id = i.object_id
    WHERE i.is_primary_key = 0
        AND i.is_unique_constraint = 0
        AND i.name IS NOT NULL
)
SELECT 'schema' AS kind, CAST(s.name AS nvarchar(128)) AS name
FROM sys.schemas AS s
JOIN given AS g ON s.name = g.home
UNION ALL
SELECT k.kind, CAST(k.name AS nvarchar(128))
FROM known AS k
JOIN sys.schemas AS s ON s.schema_id = k.schema_id
JOIN given AS g ON s.name = g.home
WHERE CHARINDEX(N'"' + REPLACE(REPLACE(k.name, N'\', N'\\'), N'"', N'\"') + N'"', g.names) > 0
    AND (
        k.home_name IS NULL
        OR CHARINDEX(N'"' + REPLACE(REPLACE(k.home_name, N'\', N'\\'), N'"', N'\"') + N'"', g.names) > 0
    )
ORDER BY kind, name
