-- Ids in progress, for tables where no column says since when: qmon watches them itself.
-- Compiled anew each time where the index is filtered: only then does the value of the state let that serve it.
-- {table}          the queue's table
-- {called!text}     columns: what a message is called by
-- {state}          column: the state
-- {progress_index} the index that leads to the rows in progress
-- :in_progress     the state value of a message in progress
-- :limit           so many at most
-- > id             id as text
SELECT TOP (:limit) {called!text} AS id
FROM {table} WITH (INDEX ({progress_index}))
WHERE {state} = CAST(:in_progress AS {state!type}(100))
OPTION (MAXDOP 1{progress_index!recompile})
