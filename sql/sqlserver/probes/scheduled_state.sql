-- Messages not due yet, counted up to a limit, of a queue with a state column.
-- Recompiled for each execution if the index is filtered: only then can the statement use that index.
-- {table}     the queue's table
-- {state}     column: the state
-- {due_at}    column: when it is due
-- {due_index} the index that gives the ready rows in the order of that time
-- :ready      the state value of a ready message
-- :limit      maximum count
-- > counted   rows seen, at most :limit
SELECT CAST(COUNT(*) AS int) AS counted
FROM (
    SELECT TOP (:limit) 1 AS qmon_row
    FROM {table} WITH (INDEX ({due_index}))
    WHERE {state} = CAST(:ready AS {state!type}(100))
        AND {due_at} > {due_at!clock}
) AS s
OPTION (MAXDOP 1{due_index!recompile})
