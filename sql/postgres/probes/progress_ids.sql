-- Ids in progress, for tables without a start time: qmon measures the time itself.
-- {table}      the queue's table
-- {called!text} columns: the name of a message
-- {state}      column: the state
-- :in_progress the state value of a message in progress
-- :limit       maximum number of rows
-- > id         id as text
SELECT {called!text} AS id
FROM {table}
WHERE {state} = :in_progress
LIMIT :limit
