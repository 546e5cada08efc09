-- A value just before that of the first ready message that was never popped, in a column of times; no row if there is
-- no such message. Read without locks: it does not matter whether this message is just being popped.
-- Rows of the year 1, the default of some programs, are skipped: there is no earlier time.
-- {table}      the queue's table
-- {state}      column: the state
-- {attempts?}  column: number of pops
-- {front}      column that orders the pops
-- :ready       the state value of a ready message
-- :step        milliseconds between two places that the column can distinguish
-- > place      the place, as text
DECLARE @ready nvarchar(200) = :ready, @step int = :step;
SELECT TOP (1) CONVERT(nvarchar(40), CASE WHEN {front} > '19000102' THEN DATEADD(MILLISECOND, -@step, {front}) END, 126) AS place
FROM {table} WITH (NOLOCK)
WHERE {state} = CAST(@ready AS {state!type}(200))
    AND ({attempts?} IS NULL OR {attempts?} = 0)
    AND {front} > '19000102'
ORDER BY {front}
OPTION (RECOMPILE, MAXDOP 1)
