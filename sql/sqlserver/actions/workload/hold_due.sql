-- Fault: lock the messages that have been due longest, until the transaction ends. Uses the order of the clustered
-- index, so that it locks no more rows than it counts.
-- {table}  the queue's table
-- {due_at} column: when a message is due
-- :rows    number of rows
-- > held   rows locked
SELECT CAST(COUNT(*) AS int) AS held
FROM (
    SELECT TOP (CAST(:rows AS int)) {due_at} AS due
    FROM {table} WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
    ORDER BY {due_at}
) AS h
OPTION (MAXDOP 1)
