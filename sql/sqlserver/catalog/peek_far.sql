-- The states of rows that are due in more than five years, if the whole table is at most 4 MB now (see `peek_few`). Such a
-- time means "never" or "no time".
-- {table}    the table
-- {state}    column: the state
-- {due_at}   column: when a message is due
-- :table_id  the table's object id
-- > value    one state as text
SELECT DISTINCT TOP (33) CAST(few.state AS nvarchar(100)) AS value
FROM (
    SELECT TOP (50000) t.{state} AS state, t.{due_at} AS due_at
    FROM {table} AS t
    WHERE (
        SELECT SUM(a.total_pages)
        FROM sys.partitions AS r
        JOIN sys.allocation_units AS a ON a.container_id = r.hobt_id AND a.type IN (1, 3)
        WHERE r.object_id = :table_id AND r.index_id IN (0, 1)
    ) <= 512
) AS few
WHERE few.state IS NOT NULL
    AND few.due_at > DATEADD(YEAR, 5, SYSUTCDATETIME())
ORDER BY value
