-- The keys of a queue's table: the primary key, and other unique keys of columns without NULL. One row per column.
-- {table}        the table
-- > name         the index's name
-- > is_primary   it is the primary key
-- > position     1 is the leading column
-- > column_name  the column
SELECT CAST(i.name AS nvarchar(128))        AS name,
       i.is_primary_key                     AS is_primary,
       CAST(k.key_ordinal AS int)           AS position,
       CAST(c.name AS nvarchar(128))        AS column_name
FROM sys.indexes AS i
JOIN sys.index_columns AS k ON k.object_id = i.object_id AND k.index_id = i.index_id AND k.key_ordinal > 0
JOIN sys.columns AS c ON c.object_id = k.object_id AND c.column_id = k.column_id
WHERE i.object_id = OBJECT_ID({table!literal}, N'U')
    AND i.is_unique = 1 AND i.has_filter = 0 AND i.is_disabled = 0 AND i.is_hypothetical = 0
    AND NOT EXISTS (
        SELECT 1
        FROM sys.index_columns AS n
        JOIN sys.columns AS m ON m.object_id = n.object_id AND m.column_id = n.column_id
        WHERE n.object_id = i.object_id AND n.index_id = i.index_id AND n.key_ordinal > 0 AND m.is_nullable = 1
    )
ORDER BY i.name, k.key_ordinal
