-- Rows that transactions have locked or deleted (a stack, which deletes on pop), by transaction; see "held".
-- {table}      the queue's table
-- {id}         column: the id, in the order of pops
-- {head_index} the index that leads with it
-- :limit       so many of the newest rows are looked at
-- > xid     transaction id as text
-- > rows    rows it holds
-- > running always true: a lock ends with its transaction
WITH parts AS (
    SELECT p.hobt_id
    FROM sys.indexes AS i
    JOIN sys.partitions AS p ON p.object_id = i.object_id AND p.index_id = i.index_id
    WHERE i.object_id = OBJECT_ID({table!literal})
        AND QUOTENAME(i.name) = {head_index!literal}
),
visible AS (
    SELECT TOP (:limit) %%lockres%% AS place
    FROM {table} AS q WITH (INDEX ({head_index}))
    ORDER BY q.{id} DESC
)
SELECT TOP (200)
    CONVERT(nvarchar(20), l.request_owner_id) AS xid,
    CAST(COUNT(*) AS int) AS rows,
    CAST(1 AS bit) AS running
FROM sys.dm_tran_locks AS l
WHERE l.resource_database_id = DB_ID()
    AND l.resource_type IN (N'KEY', N'RID')
    AND l.resource_associated_entity_id IN (SELECT p.hobt_id FROM parts AS p)
    AND l.request_status = N'GRANT'
    AND l.request_owner_type = N'TRANSACTION'
    AND (
        l.request_mode IN (N'U', N'RangeS-U')
        OR (
            l.request_mode IN (N'X', N'RangeX-X')
            AND NOT EXISTS (SELECT 1 FROM visible AS v WHERE v.place = l.resource_description)
        )
    )
GROUP BY l.request_owner_id
ORDER BY rows DESC
OPTION (MAXDOP 1)
