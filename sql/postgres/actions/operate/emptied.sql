-- Counts in an operation the rows of its trash that were emptied.
-- :done  rows
-- :id    the operation
-- > done  rows of qmon's table changed: 1, or 0
SELECT qmon.operation_emptied(CAST(:id AS pg_catalog.text), CAST(:done AS pg_catalog.int8)) AS done
