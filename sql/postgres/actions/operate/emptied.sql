-- Adds the rows that were emptied from the trash to the counter of an operation.
-- :done  rows
-- :id    the operation
-- > done  rows of qmon's table changed: 1, or 0
SELECT qmon.operation_emptied(CAST(:id AS pg_catalog.text), CAST(:done AS pg_catalog.int8)) AS done
