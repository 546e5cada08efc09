-- Adds the counts of one batch to an operation, within the transaction of the batch. Changes no row if the operation is
-- over or another login began it: the batch must not be committed then.
-- :done     rows touched
-- :skipped  rows left alone, since others had locked them
-- :changed  rows skipped because they changed after the plan
-- :refused  rows left alone, since the server would not have it
-- :busy_s   seconds that the batch took
-- :id       the operation
-- > done    rows of qmon's table changed: 1, or 0
SELECT qmon.operation_count(CAST(:id AS pg_catalog.text), CAST(:done AS pg_catalog.int8),
                            CAST(:skipped AS pg_catalog.int8), CAST(:changed AS pg_catalog.int8),
                            CAST(:refused AS pg_catalog.int8), CAST(:busy_s AS pg_catalog.float8)) AS done
