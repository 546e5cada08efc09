-- Counts in an operation the rows of its trash that were emptied.
-- :done  rows
-- :id    the operation
UPDATE qmon.operations
SET emptied = emptied + CAST(:done AS bigint)
WHERE id = CAST(:id AS varchar(40))
