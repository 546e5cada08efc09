-- The oldest message of a queue with a state column but without a count of attempts, and the id of the last
-- transaction; see "tried".
-- {table}  the queue's table
-- {id}     column: the id, in the order of pops
-- {state}  column: the state
-- {error?} column: its last error
-- :ready   the state value of a ready message
-- :head    last known head id, NULL at first
-- > id       id as text
-- > attempts NULL: no column counts them
-- > mark     transaction id as text, 0 if no transaction has locked or changed it
-- > error    the end of its last error
SELECT CAST(h.id AS text) AS id, CAST(NULL AS int) AS attempts, CAST(h.mark AS text) AS mark, h.error
FROM (
    SELECT {id} AS id, xmax AS mark, {error?!newest} AS error
    FROM {table}
    WHERE {state} = :ready
        AND {id} >= coalesce(:head, (SELECT {id} FROM {table} WHERE {state} = :ready ORDER BY {id} LIMIT 1))
    ORDER BY {id}
    LIMIT 1
) AS h
