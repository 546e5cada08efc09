-- The number of queues in the list of a group's queues, counted up to a limit.
-- {table}    the table that the rows of the group refer to for their queue
-- :limit     maximum count
-- > counted  rows seen, at most :limit
SELECT CAST(count(*) AS bigint) AS counted
FROM (SELECT 1 FROM {table} LIMIT CAST(:limit AS int)) AS s
