-- The exclusive locks of transactions on rows of a table: rows that they have popped or added.
-- {table}    the table
-- :limit     maximum number of rows
-- > session  its consumer
-- > tree     the index, or the heap, that the row is in
-- > place    the name of the row's lock
SELECT TOP (:limit)
    CAST(l.request_session_id AS int) AS session,
    CAST(p.hobt_id AS bigint) AS tree,
    CAST(RTRIM(l.resource_description) AS nvarchar(256)) AS place
FROM sys.dm_tran_locks AS l
JOIN sys.partitions AS p ON p.hobt_id = l.resource_associated_entity_id
WHERE l.resource_database_id = DB_ID()
    AND l.resource_type IN (N'KEY', N'RID')
    AND l.request_mode IN (N'X', N'RangeX-X')
    AND l.request_status = N'GRANT'
    AND l.request_session_id <> @@SPID
    AND p.object_id = OBJECT_ID({table!literal})
