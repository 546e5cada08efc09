-- Rows that transactions have locked (queues that delete on pop) and that are no longer visible, because they were
-- deleted without a commit. Rows that a producer has inserted without a commit are locked too, but visible: the newest
-- rows show which locks are theirs, by %%lockres%%, the name of a row's own lock.
-- {table}      the queue's table
-- {id}         column: the id, in the order of pops
-- {head_index} the index that leads with it
-- :limit       number of the newest rows to read
-- :places      names of locks, as "locks" lists them
-- > place      one of them that is on no row that is seen
-- > keys       number of locks per row
WITH visible AS (
    SELECT TOP (:limit) RTRIM(%%lockres%%) AS place
    FROM {table} AS q WITH (INDEX ({head_index}))
    ORDER BY q.{id} DESC
)
SELECT TOP (1000) CAST(w.place AS nvarchar(256)) AS place, CAST(1 AS int) AS keys
FROM (
    SELECT DISTINCT r.item.value('@k', 'nvarchar(256)') AS place
    FROM (SELECT CAST(:places AS xml) AS list) AS x
    CROSS APPLY x.list.nodes('/r') AS r(item)
) AS w
WHERE NOT EXISTS (SELECT 1 FROM visible AS v WHERE v.place COLLATE Latin1_General_BIN2 = w.place COLLATE Latin1_General_BIN2)
OPTION (MAXDOP 1)
