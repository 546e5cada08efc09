-- Whether no message is left in a table whose messages only a scan counts: all rows are done, dead or due later. Stops
-- at the first other row. Tables of more than :pages pages are not read, because deletes may have left any number of
-- empty pages there.
-- {table}    the queue's table
-- {state}    column: the state
-- {due_at?}  column: when a message is due
-- :table_id  the table's object id
-- :pages     pages of the table up to which rows are looked for
-- :ready     the state value of a ready message
-- :done      the state value of a finished message, NULL if there is none
-- :dead      the state value of a dead message, NULL if there is none
-- > empty    every row is done, dead or due later; NULL if the table is larger
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
    WHERE CASE
        WHEN {state} = CAST(:done AS {state!type}(100)) THEN 0
        WHEN {state} = CAST(:dead AS {state!type}(100)) THEN 0
        WHEN {state} = CAST(:ready AS {state!type}(100)) AND {due_at?!utc} > SYSUTCDATETIME() THEN 0
        ELSE 1
    END = 1
) AS s
OPTION (MAXDOP 1)
