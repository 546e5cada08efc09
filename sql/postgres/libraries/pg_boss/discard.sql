-- The messages are deleted, as by the library's own deleteJob. Copies in a dead-letter queue, and jobs that other jobs
-- wait for, stay.
-- {table}    the jobs
-- :queue     the queue
-- :ids       which, an array as text
-- > id       one that is done
WITH gone AS (
    DELETE FROM {table} AS j
    WHERE j.name = :queue
      AND j.id = ANY (CAST(:ids AS uuid[]))
      AND j.state IN ('created', 'retry', 'failed')
      AND NOT j.blocking
    RETURNING j.id
)
SELECT CAST(id AS text) AS id FROM gone
