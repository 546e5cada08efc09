-- Rows of a heap that transactions have locked or deleted, by transaction; see "held". A heap has no newest end, so the rows
-- seen are looked at only where the table is small, at most 128 pages; of a larger one pushes without a commit count too.
-- {table}  the queue's table
-- :limit   look at so many rows at most
-- > xid     transaction id as text
-- > rows    rows it holds
-- > running always true: a lock ends with its transaction
WITH parts AS (
    SELECT p.hobt_id
    FROM sys.indexes AS i
    JOIN sys.partitions AS p ON p.object_id = i.object_id AND p.index_id = i.index_id
    WHERE i.object_id = OBJECT_ID({table!literal})
        AND i.index_id IN (0, 1)
),
visible AS (
    SELECT s.place
    FROM (
        SELECT CASE WHEN SUM(a.total_pages) <= 128 THEN 1 ELSE 0 END AS small
        FROM sys.partitions AS r
        JOIN sys.allocation_units AS a ON a.container_id = r.hobt_id AND a.type IN (1, 3)
        WHERE r.object_id = OBJECT_ID({table!literal})
            AND r.index_id IN (0, 1)
    ) AS p
    CROSS APPLY (
        SELECT TOP (CASE p.small WHEN 1 THEN CAST(:limit AS int) ELSE 0 END) %%lockres%% AS place
        FROM {table}
    ) AS s
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
