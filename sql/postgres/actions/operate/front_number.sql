-- A value just before that of the first ready message that was never popped, in a column of numbers; no row if there is
-- no such message.
-- {table}      the queue's table
-- {state}      column: the state
-- {attempts?}  column: number of pops
-- {front}      column that orders the pops
-- :ready       the state value of a ready message
-- > place      the place, as text
SELECT CAST({front} - 1 AS text) AS place
FROM {table}
WHERE {state} = :ready
  AND coalesce(CAST({attempts?} AS bigint) = 0, true)
  AND {front} IS NOT NULL
ORDER BY {front}
LIMIT 1
