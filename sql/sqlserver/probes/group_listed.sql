-- The number of queues in the list of a group's queues, counted up to a limit.
-- {table}    the table that the rows of the group refer to for their queue
-- :limit     maximum count
-- > counted  rows seen, at most :limit
SELECT COUNT_BIG(*) AS counted
FROM (SELECT TOP (CAST(:limit AS int)) 1 AS qmon_one FROM {table}) AS s
OPTION (MAXDOP 1)
