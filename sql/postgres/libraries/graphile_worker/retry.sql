-- The messages are due now, with one more attempt (reschedule_jobs).
-- {table}    the jobs
-- {reschedule_jobs}  the library's function
-- :ids       which, an array as text
-- > id       one that is done
SELECT CAST(done.id AS text) AS id
FROM {table} AS j
CROSS JOIN LATERAL {reschedule_jobs}(ARRAY[j.id], run_at := now(), max_attempts := j.max_attempts + 1) AS done
WHERE j.id = ANY (CAST(:ids AS bigint[])) AND j.locked_at IS NULL AND j.attempts >= j.max_attempts
