-- Ready rows that transactions have locked or are marking as popped, by transaction; see "held". For tables without a state
-- for what is in progress. Where the state is part of the index's key, a pop locks two keys: the one it leaves and its new one.
-- Compiled anew each time: only then does the value of the state let a filtered index serve it.
-- {table}      the queue's table
-- {id}         column: the id, in the order of pops
-- {state}      column: the state
-- {head_index} the index that gives the ready rows in the order of pops
-- :ready       the state value of a ready message
-- :limit       so many of the newest ready rows are looked at
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
    WHERE q.{state} = CAST(:ready AS varchar(100))
    ORDER BY q.{id} DESC
)
SELECT TOP (200)
    CONVERT(nvarchar(20), l.request_owner_id) AS xid,
    CAST(COUNT(*) / (
        SELECT 1 + COUNT(*)
        FROM sys.indexes AS i
        JOIN sys.index_columns AS k ON k.object_id = i.object_id AND k.index_id = i.index_id AND k.key_ordinal > 0
        JOIN sys.columns AS c ON c.object_id = k.object_id AND c.column_id = k.column_id
        WHERE i.object_id = OBJECT_ID({table!literal})
            AND QUOTENAME(i.name) = {head_index!literal}
            AND QUOTENAME(c.name) = {state!literal}
    ) AS int) AS rows,
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
OPTION (RECOMPILE, MAXDOP 1)
