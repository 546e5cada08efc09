-- Whether no message is left in a table whose messages only a scan counts. Stops at the first message that is due.
-- Tables of more than :pages pages are not read, because deletes may have left any number of empty pages there.
-- {table}    the queue's table
-- {due_at?}  column: when a message is due
-- :table_id  the table's object id
-- :pages     pages of the table up to which rows are looked for
-- > empty    no message is due; NULL if the table is larger
SELECT CAST(CASE MAX(p.small) WHEN 1 THEN CASE WHEN COUNT(s.qmon_row) = 0 THEN 1 ELSE 0 END END AS bit) AS empty
FROM (
    SELECT CASE WHEN SUM(a.total_pages) <= CAST(:pages AS bigint) THEN 1 ELSE 0 END AS small
    FROM sys.partitions AS r
    JOIN sys.allocation_units AS a ON a.container_id = r.hobt_id AND a.type IN (1, 3)
    WHERE r.object_id = CAST(:table_id AS int)
        AND r.index_id IN (0, 1)
) AS p
OUTER APPLY (
    SELECT TOP (CASE p.small WHEN 1 THEN 1 ELSE 0 END) 1 AS qmon_row
    FROM {table}
    WHERE {due_at?!utc} IS NULL OR {due_at?!utc} <= SYSUTCDATETIME()
) AS s
OPTION (MAXDOP 1)
