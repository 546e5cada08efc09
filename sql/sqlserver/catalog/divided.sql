-- The columns that decide the partition of a row. If such a column changes, the row moves: the server counts an insert
-- and a delete.
-- > table_id    the table's object id
-- > column_name the column
SELECT k.object_id                                                                      AS table_id,
       CAST(c.name AS nvarchar(128))                                                    AS column_name
FROM sys.index_columns AS k
JOIN sys.columns AS c ON c.object_id = k.object_id AND c.column_id = k.column_id
JOIN sys.tables AS t ON t.object_id = k.object_id
WHERE k.index_id IN (0, 1) AND k.partition_ordinal > 0 AND t.is_ms_shipped = 0
ORDER BY k.object_id, c.name
