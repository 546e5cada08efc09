-- Messages not due yet, counted up to a limit, of a queue with a state column.
-- {table}   the queue's table
-- {state}   column: the state
-- {due_at}  column: when it is due
-- :ready    the state value of a ready message
-- :limit    maximum count
-- > counted rows seen, at most :limit
SELECT CAST(count(*) AS int) AS counted
FROM (SELECT 1 FROM {table} WHERE {state} = :ready AND {due_at} > {due_at!clock} LIMIT :limit) AS s
