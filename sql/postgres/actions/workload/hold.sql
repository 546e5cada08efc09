-- Fault: lock the oldest messages, until the transaction ends.
-- {table}  the queue's table
-- {id}     column: the id
-- {state?} column: the state; without one every row is ready
-- :ready   the state value of a ready message
-- :rows    number of rows
-- > held   rows locked
SELECT CAST(count(*) AS integer) AS held
FROM (
    SELECT {id}
    FROM {table}
    WHERE {state?} IS NULL
        OR {state?} = :ready
    ORDER BY {id}
    LIMIT :rows
    FOR UPDATE
) AS h
