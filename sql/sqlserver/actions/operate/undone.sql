-- Counts in an operation what an undo took back, within the transaction of the undo's batch.
-- :done  rows
-- :id    the operation that is undone
UPDATE qmon.operations
SET undone = undone + CAST(:done AS bigint)
WHERE id = CAST(:id AS varchar(40))
