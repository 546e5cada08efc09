-- Fault: lock the newest messages, which a stack pops next, until the transaction ends. Uses the order of the clustered
-- index, so that it locks no more rows than it counts.
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
