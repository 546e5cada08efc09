-- Messages in one state, counted up to a limit (dead letters).
-- {table}   the queue's table
-- {state}   column: the state
-- :value    the state value
-- :limit    maximum count
-- > counted rows seen, at most :limit
SELECT CAST(count(*) AS int) AS counted
FROM (SELECT 1 FROM {table} WHERE {state} = :value LIMIT :limit) AS s
