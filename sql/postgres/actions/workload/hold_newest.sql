-- Fault: lock the newest messages, which a stack pops next, until the transaction ends.
-- {table} the queue's table
-- {id}    column: the id
-- :rows   number of rows
-- > held  rows locked
SELECT CAST(count(*) AS integer) AS held
FROM (SELECT {id} FROM {table} ORDER BY {id} DESC LIMIT :rows FOR UPDATE) AS h
