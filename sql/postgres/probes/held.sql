-- Rows near the head that a transaction has locked or deleted (queues that delete on pop), by transaction.
-- A transaction that is over leaves its mark on the row too: only those that the probe "writers" lists count.
-- {table} the queue's table
-- {id}    column: the id, in the order of pops
-- :head   last known head id, NULL at first
-- :limit  look at so many rows at most
-- > xid   transaction id as text
-- > rows  rows it holds
SELECT CAST(s.holder AS text) AS xid, CAST(count(*) AS int) AS rows
FROM (
    SELECT xmax AS holder
    FROM {table}
    WHERE {id} >= coalesce(:head, (SELECT {id} FROM {table} ORDER BY {id} LIMIT 1))
    ORDER BY {id}
    LIMIT :limit
) AS s
WHERE CAST(s.holder AS text) <> '0'
GROUP BY 1
ORDER BY 2 DESC
LIMIT 200
