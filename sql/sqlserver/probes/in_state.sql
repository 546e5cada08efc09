-- Messages in one state, counted up to a limit (dead letters).
-- Recompiled for each execution if the index is filtered: only then can the statement use that index.
-- {table}      the queue's table
-- {state}      column: the state
-- {dead_index} the index that leads to the rows in that state
-- :value       the state value
-- :limit       maximum count
-- > counted    rows seen, at most :limit
SELECT CAST(COUNT(*) AS int) AS counted
FROM (
    SELECT TOP (:limit) 1 AS qmon_row
    FROM {table} WITH (INDEX ({dead_index}))
    WHERE {state} = CAST(:value AS {state!type}(100))
) AS s
OPTION (MAXDOP 1{dead_index!recompile})
