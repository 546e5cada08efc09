-- The messages are unlocked, and the current attempt does not count, as for jobs that the library has taken but not
-- started.
-- {table}    the jobs
-- {_private_job_queues}  the locks of jobs that run one after the other
-- :ids       which, an array as text
-- > id       one that is done
WITH held AS (
    SELECT id, job_queue_id, locked_by
    FROM {table}
    WHERE id = ANY (CAST(:ids AS bigint[])) AND locked_at IS NOT NULL
    FOR UPDATE
), unlocked AS (
    UPDATE {_private_job_queues} AS q
    SET locked_by = NULL, locked_at = NULL
    FROM held
    WHERE q.id = held.job_queue_id AND q.locked_by = held.locked_by
)
UPDATE {table} AS j
SET attempts = greatest(0, j.attempts - 1), locked_by = NULL, locked_at = NULL
FROM held
WHERE j.id = held.id
RETURNING CAST(j.id AS text) AS id
