-- The oldest message of a queue that pops in a transaction, and the id of the last transaction that popped or locked
-- it: if this id changes while the message stays, the message was popped and given back.
-- {table}  the queue's table
-- {id}     column: the id, in the order of pops
-- {error?} column: its last error
-- :head    last known head id, NULL at first
-- > id       id as text
-- > attempts NULL: no column counts them
-- > mark     transaction id as text, 0 if no transaction has locked or changed it
-- > error    the end of its last error
SELECT CAST(h.id AS text) AS id, CAST(NULL AS int) AS attempts, CAST(h.mark AS text) AS mark, h.error
FROM (
    SELECT {id} AS id, xmax AS mark, {error?!newest} AS error
    FROM {table}
    WHERE {id} >= coalesce(:head, (SELECT {id} FROM {table} ORDER BY {id} LIMIT 1))
    ORDER BY {id}
    LIMIT 1
) AS h
