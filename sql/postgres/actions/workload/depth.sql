-- The exact number of ready messages, read once when a load begins.
-- {table}   the queue's table
-- {state?}  column: the state; without one every row is ready
-- :ready    the state value of a ready message
-- > depth   messages
SELECT count(*) AS depth
FROM {table} AS q
WHERE {state?} IS NULL
    OR {state?} = :ready
