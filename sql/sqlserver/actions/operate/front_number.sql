-- A value just before that of the first ready message that was never popped, in a column of numbers; no row if there is
-- no such message. Read without locks: it does not matter whether this message is just being popped.
-- {table}      the queue's table
-- {state}      column: the state
-- {attempts?}  column: number of pops
-- {front}      column that orders the pops
-- :ready       the state value of a ready message
-- > place      the place, as text
DECLARE @ready nvarchar(200) = :ready;
SELECT TOP (1) CONVERT(nvarchar(40), {front} - 1) AS place
FROM {table} WITH (NOLOCK)
WHERE {state} = CAST(@ready AS {state!type}(200))
    AND ({attempts?} IS NULL OR {attempts?} = 0)
    AND {front} IS NOT NULL
ORDER BY {front}
OPTION (RECOMPILE, MAXDOP 1)
