-- They are deleted, as the library's own deleteJob does; copies in a dead letter queue, and jobs that others wait for, stay.
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
