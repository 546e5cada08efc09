-- Records the end and the result of an operation.
-- :state  done, cancelled, interrupted or failed
-- :notes  notes for the operator, a JSON array
-- :id     the operation
-- > done  rows of qmon's table changed: 1, or 0
SELECT qmon.operation_end(CAST(:id AS pg_catalog.text), CAST(:state AS pg_catalog.text),
                          CAST(:notes AS pg_catalog.json)) AS done
