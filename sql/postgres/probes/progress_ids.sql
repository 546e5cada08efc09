-- Ids in progress, for tables where no column says since when: qmon watches them itself.
-- {table}      the queue's table
-- {called!text} columns: what a message is called by
-- {state}      column: the state
-- :in_progress the state value of a message in progress
-- :limit       so many at most
-- > id         id as text
SELECT {called!text} AS id
FROM {table}
WHERE {state} = :in_progress
LIMIT :limit
