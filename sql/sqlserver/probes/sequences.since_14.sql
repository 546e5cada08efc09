-- The last number that each sequence has issued. An identity column has no sequence: it has the id of its table
-- instead.
-- :sequences     ids of sequences, or of tables with an identity column, separated by commas
-- > sequence_id  as asked
-- > last_value   last number issued; NULL if there is none yet
-- > visible      always true: rows exist only for objects that we may see
WITH wanted AS (
    SELECT v.item.value('.', 'int') AS object_id
    FROM (
        SELECT CAST(N'<i>' + REPLACE(CAST(:sequences AS nvarchar(max)), N',', N'</i><i>') + N'</i>' AS xml) AS list
    ) AS l
    CROSS APPLY l.list.nodes('/i') AS v(item)
)
SELECT
    CAST(s.object_id AS bigint) AS sequence_id,
    CASE WHEN s.last_used_value IS NULL AND s.current_value = s.start_value THEN NULL ELSE CAST(s.current_value AS bigint) END AS last_value,
    CAST(1 AS bit) AS visible
FROM wanted AS w
JOIN sys.sequences AS s ON s.object_id = w.object_id
UNION ALL
SELECT
    CAST(t.object_id AS bigint),
    CAST(IDENT_CURRENT(QUOTENAME(h.name) + N'.' + QUOTENAME(t.name)) AS bigint),
    CAST(1 AS bit)
FROM wanted AS w
JOIN sys.tables AS t ON t.object_id = w.object_id
JOIN sys.schemas AS h ON h.schema_id = t.schema_id
