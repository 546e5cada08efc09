-- The exact number of ready messages, read once when a load begins. Without locks, so that it waits for no session.
-- {table}   the queue's table
-- {state?}  column: the state; without one every row is ready
-- :ready    the state value of a ready message
-- > depth   messages
SELECT COUNT_BIG(*) AS depth
FROM {table} WITH (NOLOCK)
WHERE {state?} IS NULL
    OR {state?} = CAST(:ready AS varchar(100))
OPTION (MAXDOP 1)
