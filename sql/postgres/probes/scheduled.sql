-- Messages not due yet, counted up to a limit, of a queue that deletes on pop.
-- {table}   the queue's table
-- {due_at}  column: when it is due
-- :limit    maximum count
-- > counted rows seen, at most :limit
SELECT CAST(count(*) AS int) AS counted
FROM (SELECT 1 FROM {table} WHERE {due_at} > {due_at!clock} LIMIT :limit) AS s
