-- Ids in progress, for tables without a start time: qmon measures the time itself.
-- Recompiled for each execution if the index is filtered: only then can the statement use that index.
-- {table}          the queue's table
-- {called!text}     columns: the name of a message
-- {state}          column: the state
-- {progress_index} the index of the rows in progress
-- :in_progress     the state value of a message in progress
-- :limit           maximum number of rows
-- > id             id as text
SELECT TOP (:limit) {called!text} AS id
FROM {table} WITH (INDEX ({progress_index}))
WHERE {state} = CAST(:in_progress AS {state!type}(100))
OPTION (MAXDOP 1{progress_index!recompile})
