-- Rows that were ready, are locked by transactions and are no longer ready; see "unseen". For tables without a state
-- for messages in progress. Where the state is part of the index's key, a pop locks two keys: the old key and the new
-- key. Recompiled for each execution if the index is filtered: only then can the statement use that index.
-- {table}      the queue's table
-- {id}         column: the id, in the order of pops
-- {state}      column: the state
-- {head_index} the index that gives the ready rows in the order of pops
-- :ready       the state value of a ready message
-- :limit       number of the newest ready rows to read
-- :places      names of locks, as "locks" lists them
-- > place      one of them that is on no row that is seen
-- > keys       number of locks per row
WITH visible AS (
    SELECT TOP (:limit) RTRIM(%%lockres%%) AS place
    FROM {table} AS q WITH (INDEX ({head_index}))
    WHERE q.{state} = CAST(:ready AS {state!type}(100))
    ORDER BY q.{id} DESC
)
SELECT TOP (1000) CAST(w.place AS nvarchar(256)) AS place, CAST((
        SELECT 1 + COUNT(*)
        FROM sys.indexes AS i
        JOIN sys.index_columns AS k ON k.object_id = i.object_id AND k.index_id = i.index_id AND k.key_ordinal > 0
        JOIN sys.columns AS c ON c.object_id = k.object_id AND c.column_id = k.column_id
        WHERE i.object_id = OBJECT_ID({table!literal})
            AND QUOTENAME(i.name) = {head_index!literal}
            AND QUOTENAME(c.name) = {state!literal}
    ) AS int) AS keys
FROM (
    SELECT DISTINCT r.item.value('@k', 'nvarchar(256)') AS place
    FROM (SELECT CAST(:places AS xml) AS list) AS x
    CROSS APPLY x.list.nodes('/r') AS r(item)
) AS w
WHERE NOT EXISTS (SELECT 1 FROM visible AS v WHERE v.place COLLATE Latin1_General_BIN2 = w.place COLLATE Latin1_General_BIN2)
OPTION (MAXDOP 1{head_index!recompile})
