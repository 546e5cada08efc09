-- Fault: lock some messages of a heap, in the order of the table, until the transaction ends.
-- {table} the queue's table
-- :rows   number of rows
-- > held  rows locked
SELECT CAST(COUNT(*) AS int) AS held
FROM (SELECT TOP (CAST(:rows AS int)) 1 AS one FROM {table} WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)) AS h
OPTION (MAXDOP 1)
