-- Adds the rows that an undo restored to the counter of an operation, within the transaction of the undo's batch.
-- :done  rows
-- :id    the operation that is undone
-- > done  rows of qmon's table changed: 1, or 0
SELECT qmon.operation_undone(CAST(:id AS pg_catalog.text), CAST(:done AS pg_catalog.int8)) AS done
