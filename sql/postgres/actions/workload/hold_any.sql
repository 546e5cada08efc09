-- Fault: lock some messages of a heap, in the order of the table, until the transaction ends.
-- {table} the queue's table
-- :rows   number of rows
-- > held  rows locked
SELECT CAST(count(*) AS integer) AS held
FROM (SELECT ctid FROM {table} LIMIT :rows FOR UPDATE) AS h
