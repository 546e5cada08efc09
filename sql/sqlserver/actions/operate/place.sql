-- The facts that rows and statements depend on: the table, and the parts of its structure that affect rows. If these
-- facts are the same at the plan and at the end of a batch, nothing was replaced or altered in between. The key
-- identifies a row: its position does not matter.
-- {table}   the table
-- > part    the table's object id
-- > file    the same
-- > shape   its columns, triggers and foreign keys
SELECT CAST(o.object_id AS varchar(20)) AS part,
       CAST(o.object_id AS varchar(20)) AS [file],
       CAST(COALESCE(c.shape, N'') + COALESCE(t.shape, N'') + COALESCE(k.shape, N'') AS nvarchar(max)) AS shape
FROM sys.objects AS o
CROSS APPLY (
    SELECT CONVERT(nvarchar(max), (
        SELECT c.column_id AS i, c.name AS n, c.system_type_id AS t, c.max_length AS l, c.precision AS p,
               c.scale AS s, c.is_nullable AS u, c.is_computed AS c
        FROM sys.columns AS c
        WHERE c.object_id = o.object_id
        ORDER BY c.column_id
        FOR XML RAW
    )) AS shape
) AS c
CROSS APPLY (
    SELECT CONVERT(nvarchar(max), (
        SELECT t.object_id AS i, t.is_disabled AS d, t.is_instead_of_trigger AS o
        FROM sys.triggers AS t
        WHERE t.parent_id = o.object_id
        ORDER BY t.object_id
        FOR XML RAW
    )) AS shape
) AS t
CROSS APPLY (
    SELECT CONVERT(nvarchar(max), (
        SELECT k.object_id AS i, k.is_disabled AS d, k.delete_referential_action AS a
        FROM sys.foreign_keys AS k
        WHERE k.parent_object_id = o.object_id OR k.referenced_object_id = o.object_id
        ORDER BY k.object_id
        FOR XML RAW
    )) AS shape
) AS k
WHERE o.object_id = OBJECT_ID({table!literal}, N'U')
