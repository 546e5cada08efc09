-- Messages not due yet, counted up to a limit, of a queue that deletes on pop.
-- {table}     the queue's table
-- {due_at}    column: when it is due
-- {due_index} the index that leads with that time
-- :limit      maximum count
-- > counted   rows seen, at most :limit
SELECT CAST(COUNT(*) AS int) AS counted
FROM (
    SELECT TOP (:limit) 1 AS qmon_row
    FROM {table} WITH (INDEX ({due_index}))
    WHERE {due_at} > {due_at!clock}
) AS s
OPTION (MAXDOP 1)
