-- The exclusive locks of transactions on rows of all queues' tables. One statement reads them for all queues, because
-- reading the lock table is expensive. With optimized locking (2025, Azure SQL Database, Managed Instance), a
-- transaction releases its lock on a row at once, unless its statement uses a hint such as UPDLOCK: a row with table 0
-- means that optimized locking is on.
-- :tables      the tables' object ids, "1,2"
-- :places      number of locks of a transaction on an index to list; the others are only counted
-- > table_id   the table
-- > index_id   the index; 0: the table itself, a heap or its clustered index
-- > name       of the index; NULL for a heap
-- > xid        transaction id as text
-- > taken      exclusive: rows it has deleted, changed or added; otherwise rows it is about to change
-- > place      the name of the row's lock, as %%lockres%% gives it
-- > locks      all that the transaction has of this kind on this index
SELECT TOP (5000) f.table_id, f.index_id, f.name, f.xid, f.taken, f.place, f.locks
FROM (
    SELECT
        CAST(0 AS bigint) AS table_id,
        CAST(0 AS bigint) AS index_id,
        CAST(NULL AS nvarchar(128)) AS name,
        CAST(N'' AS nvarchar(20)) AS xid,
        CAST(0 AS bit) AS taken,
        CAST(N'' AS nvarchar(256)) AS place,
        CAST(0 AS int) AS locks,
        CAST(0 AS bigint) AS nth
    WHERE CAST(DATABASEPROPERTYEX(DB_NAME(), 'IsOptimizedLockingOn') AS int) = 1
    UNION ALL
    SELECT
        k.table_id,
        k.index_id,
        k.name,
        k.xid,
        k.taken,
        k.place,
        CAST(COUNT(*) OVER (PARTITION BY k.table_id, k.index_id, k.xid, k.taken) AS int) AS locks,
        ROW_NUMBER() OVER (PARTITION BY k.table_id, k.index_id, k.xid, k.taken ORDER BY k.place) AS nth
    FROM (
        SELECT
            CAST(t.object_id AS bigint) AS table_id,
            CAST(CASE t.index_id WHEN 1 THEN 0 ELSE t.index_id END AS bigint) AS index_id,
            CAST(t.name AS nvarchar(128)) AS name,
            CONVERT(nvarchar(20), l.request_owner_id) AS xid,
            CAST(CASE WHEN l.request_mode IN (N'X', N'RangeX-X') THEN 1 ELSE 0 END AS bit) AS taken,
            CAST(RTRIM(l.resource_description) AS nvarchar(256)) AS place
        FROM sys.dm_tran_locks AS l
        JOIN (
            SELECT p.hobt_id, i.object_id, i.index_id, i.name
            FROM sys.indexes AS i
            JOIN sys.partitions AS p ON p.object_id = i.object_id AND p.index_id = i.index_id
            WHERE CHARINDEX(N',' + CONVERT(nvarchar(11), i.object_id) + N',', N',' + CAST(:tables AS nvarchar(max)) + N',') > 0
        ) AS t ON t.hobt_id = l.resource_associated_entity_id
        WHERE l.resource_database_id = DB_ID()
            AND l.resource_type IN (N'KEY', N'RID')
            AND l.request_status = N'GRANT'
            AND l.request_owner_type = N'TRANSACTION'
            AND l.request_mode IN (N'U', N'RangeS-U', N'X', N'RangeX-X')
    ) AS k
) AS f
WHERE f.nth <= CAST(:places AS int)
ORDER BY f.nth
OPTION (MAXDOP 1)
