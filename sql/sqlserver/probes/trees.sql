-- The indexes of one table and their sizes, so that fragmentation is only read if this is cheap; reads no table. None
-- on a readable secondary, because that read may delay redo.
-- :table_id   the table's object id
-- > index_id  the index as the server counts it: 0 a heap, 1 the clustered index
-- > pages     pages in use, without large objects
SELECT TOP (200)
    CAST(i.index_id AS bigint) AS index_id,
    CAST(COALESCE(SUM(a.used_pages), 0) AS bigint) AS pages
FROM sys.indexes AS i
JOIN sys.partitions AS r ON r.object_id = i.object_id AND r.index_id = i.index_id
JOIN sys.allocation_units AS a ON a.container_id = r.hobt_id AND a.type = 1
WHERE i.object_id = CAST(:table_id AS int)
    AND i.type IN (0, 1, 2)
    AND i.is_hypothetical = 0
    AND i.is_disabled = 0
    AND CAST(DATABASEPROPERTYEX(DB_NAME(), 'Updateability') AS nvarchar(20)) = N'READ_WRITE'
GROUP BY i.index_id
ORDER BY i.index_id
