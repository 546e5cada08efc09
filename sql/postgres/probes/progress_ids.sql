-- Ids in progress, for tables where no column says since when: qmon watches them itself.
-- {table}      the queue's table
-- {message_id} column: the id
-- {state}      column: the state
-- :in_progress the state value of a message in progress
-- :limit       so many at most
-- > id         id as text
SELECT CAST({message_id} AS text) AS id
FROM {table}
WHERE {state} = :in_progress
LIMIT :limit
