-- Fault: lock the messages that have been due longest, until the transaction ends.
-- {table}  the queue's table
-- {due_at} column: when a message is due
-- :rows    number of rows
-- > held   rows locked
SELECT CAST(count(*) AS integer) AS held
FROM (SELECT {due_at} FROM {table} ORDER BY {due_at} LIMIT :rows FOR UPDATE) AS h
