-- Every table of the users, and what our role may do with it. Leaves out memory-optimized and external tables, which
-- have no locks and counters of their own, and the histories of temporal tables.
-- > table_id        its object id
-- > table_schema    its schema
-- > table_name      its name
-- > visible         found without naming the schema
-- > readable        our role may read it
-- > estimated_rows  rows as the server keeps count of them
-- > pages           pages of 8 kB
SELECT t.object_id                                                                      AS table_id,
       CAST(s.name AS nvarchar(128))                                                    AS table_schema,
       CAST(t.name AS nvarchar(128))                                                    AS table_name,
       CAST(CASE WHEN s.name = SCHEMA_NAME() THEN 1 ELSE 0 END AS bit)                  AS visible,
       CAST(COALESCE(HAS_PERMS_BY_NAME(QUOTENAME(s.name) + N'.' + QUOTENAME(t.name), N'OBJECT', N'SELECT'), 0) AS bit)
                                                                                        AS readable,
       p.row_total                                                                      AS estimated_rows,
       COALESCE(p.page_total, 0)                                                        AS pages
FROM sys.tables AS t
JOIN sys.schemas AS s ON s.schema_id = t.schema_id
OUTER APPLY (
    SELECT CAST(SUM(CASE WHEN a.type = 1 THEN r.rows ELSE 0 END) AS bigint)             AS row_total,
           CAST(SUM(a.total_pages) AS bigint)                                           AS page_total
    FROM sys.partitions AS r
    JOIN sys.allocation_units AS a ON a.container_id = r.hobt_id AND a.type IN (1, 3)
    WHERE r.object_id = t.object_id AND r.index_id IN (0, 1)
) AS p
WHERE t.is_ms_shipped = 0
  AND t.is_memory_optimized = 0
  AND t.is_external = 0
  AND t.temporal_type <> 1
  AND s.name <> N'qmon'
ORDER BY s.name, t.name
