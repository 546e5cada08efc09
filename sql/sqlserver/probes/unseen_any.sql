-- The same as "unseen" of a heap. A heap has no newest end, so visible rows are only checked if the table has at most
-- 128 pages. In a larger table, uncommitted pushes count, too.
-- {table}  the queue's table
-- :limit   maximum number of rows to read
-- :places      names of locks, as "locks" lists them
-- > place      one of them that is on no row that is seen
-- > keys       number of locks per row
WITH visible AS (
    SELECT s.place
    FROM (
        SELECT CASE WHEN SUM(a.total_pages) <= 128 THEN 1 ELSE 0 END AS small
        FROM sys.partitions AS r
        JOIN sys.allocation_units AS a ON a.container_id = r.hobt_id AND a.type IN (1, 3)
        WHERE r.object_id = OBJECT_ID({table!literal})
            AND r.index_id IN (0, 1)
    ) AS p
    CROSS APPLY (
        SELECT TOP (CASE p.small WHEN 1 THEN CAST(:limit AS int) ELSE 0 END) RTRIM(%%lockres%%) AS place
        FROM {table}
    ) AS s
)
SELECT TOP (1000) CAST(w.place AS nvarchar(256)) AS place, CAST(1 AS int) AS keys
FROM (
    SELECT DISTINCT r.item.value('@k', 'nvarchar(256)') AS place
    FROM (SELECT CAST(:places AS xml) AS list) AS x
    CROSS APPLY x.list.nodes('/r') AS r(item)
) AS w
WHERE NOT EXISTS (SELECT 1 FROM visible AS v WHERE v.place COLLATE Latin1_General_BIN2 = w.place COLLATE Latin1_General_BIN2)
OPTION (MAXDOP 1)
