-- Fault: lock the newest messages, which a stack pops next, until the transaction ends. In the order of the index that
-- the table is clustered on, so that no more rows are locked than counted.
-- {table} the queue's table
-- {id}    column: the id
-- :rows   number of rows
-- > held  rows locked
SELECT CAST(COUNT(*) AS int) AS held
FROM (
    SELECT TOP (CAST(:rows AS int)) {id} AS id
    FROM {table} WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
    ORDER BY {id} DESC
) AS h
OPTION (MAXDOP 1)
