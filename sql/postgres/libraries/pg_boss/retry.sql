-- The messages are due now, with one more attempt, as after the library's own retry. Copies in a dead-letter queue stay
-- there.
-- {table}    the jobs
-- {queue}    the library's queues
-- :queue     the queue
-- :ids       which, an array as text
-- > id       one that is done
UPDATE {table} AS j
SET state = 'retry',
    retry_limit = j.retry_limit + 1,
    heartbeat_on = NULL,
    completed_on = NULL,
    start_after = greatest(j.start_after, now()),
    keep_until = greatest(j.keep_until, now() + q.retention_seconds * interval '1 second')
FROM {queue} AS q
WHERE q.name = :queue AND j.name = :queue AND j.id = ANY (CAST(:ids AS uuid[])) AND j.state = 'failed'
RETURNING CAST(j.id AS text) AS id
