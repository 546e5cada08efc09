-- The table of a queue, its size, and the clustered key by which it can be read range by range. Reads no row.
-- :table_id     the table's object id
-- > part_id     the table's object id
-- > part_schema its schema
-- > part_name   its name
-- > pages       pages in use by its rows
-- > rows_there  rows that the server counts in it
-- > place       the clustered key, if it is one column whose order gives short ranges; otherwise NULL
SELECT
    CAST(o.object_id AS bigint) AS part_id,
    CAST(s.name AS nvarchar(128)) AS part_schema,
    CAST(o.name AS nvarchar(128)) AS part_name,
    CAST(z.pages AS bigint) AS pages,
    CAST(z.rows_there AS bigint) AS rows_there,
    CASE WHEN z.partitions = 1 THEN CAST((
        SELECT MAX(c.name)
        FROM sys.indexes AS i
        JOIN sys.index_columns AS k ON k.object_id = i.object_id AND k.index_id = i.index_id AND k.key_ordinal > 0
        JOIN sys.columns AS c ON c.object_id = k.object_id AND c.column_id = k.column_id
        WHERE i.object_id = o.object_id AND i.index_id = 1 AND i.type = 1 AND i.is_disabled = 0
        HAVING COUNT(*) = 1
            AND MAX(CASE WHEN c.is_nullable = 1 OR k.is_descending_key = 1 THEN 1 ELSE 0 END) = 0
            AND MAX(CASE
                WHEN TYPE_NAME(c.system_type_id) IN (N'datetime', N'datetime2', N'datetimeoffset') THEN 0
                WHEN i.is_unique = 1 AND TYPE_NAME(c.system_type_id) IN (
                    N'bigint', N'int', N'smallint', N'numeric', N'decimal', N'uniqueidentifier'
                ) THEN 0
                ELSE 1
            END) = 0
    ) AS nvarchar(128)) END AS place
FROM sys.objects AS o
JOIN sys.schemas AS s ON s.schema_id = o.schema_id
CROSS APPLY (
    SELECT
        COUNT(*) AS partitions,
        SUM(p.rows) AS rows_there,
        SUM(COALESCE(a.used_pages, 0)) AS pages
    FROM sys.partitions AS p
    LEFT JOIN sys.allocation_units AS a ON a.container_id = p.hobt_id AND a.type = 1
    WHERE p.object_id = o.object_id AND p.index_id IN (0, 1)
) AS z
WHERE o.object_id = CAST(:table_id AS int)
