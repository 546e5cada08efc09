-- The planner's statistics of the tables of the queues: of each table those of its key (of a heap the first there are).
-- Reads no table.
-- :tables          table ids, separated by commas
-- > table_id       as asked
-- > estimated_rows rows when they were last updated; NULL: never
-- > rows           rows now, as the server counts them
-- > modified       changes of the leading column since
-- > updated_at     when, seconds since the epoch; NULL: never
-- > updates        NULL: not counted
WITH wanted AS (
    SELECT v.item.value('.', 'int') AS object_id
    FROM (
        SELECT CAST(N'<i>' + REPLACE(CAST(:tables AS nvarchar(max)), N',', N'</i><i>') + N'</i>' AS xml) AS list
    ) AS l
    CROSS APPLY l.list.nodes('/i') AS v(item)
)
SELECT
    CAST(w.object_id AS bigint) AS table_id,
    CAST(f.rows AS bigint) AS estimated_rows,
    CAST(COALESCE(n.rows, 0) AS bigint) AS rows,
    CAST(COALESCE(f.modification_counter, 0) AS bigint) AS modified,
    CAST(DATEDIFF(DAY, '19700101', f.last_updated) * 86400.0 + DATEDIFF(SECOND, CAST(f.last_updated AS date), f.last_updated)
        - DATEPART(TZOFFSET, SYSDATETIMEOFFSET()) * 60.0 AS float) AS updated_at,
    CAST(NULL AS bigint) AS updates
FROM wanted AS w
OUTER APPLY (
    SELECT TOP (1) p.rows, p.modification_counter, p.last_updated
    FROM sys.stats AS t
    CROSS APPLY sys.dm_db_stats_properties(t.object_id, t.stats_id) AS p
    WHERE t.object_id = w.object_id
        AND t.has_filter = 0
    ORDER BY t.stats_id
) AS f
OUTER APPLY (
    SELECT SUM(r.rows) AS rows
    FROM sys.partitions AS r
    WHERE r.object_id = w.object_id
        AND r.index_id IN (0, 1)
) AS n
