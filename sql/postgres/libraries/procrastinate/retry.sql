-- The messages are due now, as another attempt (procrastinate_retry_job_v2).
-- {table}    the jobs
-- {procrastinate_retry_job_v2}  the library's function
-- :ids       which, an array as text
-- > id       one that is done
SELECT CAST(q.id AS text) AS id
FROM {table} AS q
CROSS JOIN LATERAL {procrastinate_retry_job_v2}(q.id, now(), NULL, NULL, NULL) AS done
WHERE q.id = ANY (CAST(:ids AS bigint[])) AND q.status = 'failed'
