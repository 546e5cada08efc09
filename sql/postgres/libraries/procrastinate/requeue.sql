-- The messages are due now, as another attempt (procrastinate_retry_job_v2). A job that was asked to abort becomes
-- failed.
-- If the old worker is still alive, it marks the job as done when it ends, even if another worker is working on the
-- job.
-- {table}    the jobs
-- {procrastinate_retry_job_v2}  the library's function
-- :ids       which, an array as text
-- > id       one that is done
SELECT CAST(q.id AS text) AS id
FROM {table} AS q
CROSS JOIN LATERAL {procrastinate_retry_job_v2}(q.id, now(), NULL, NULL, NULL) AS done
WHERE q.id = ANY (CAST(:ids AS bigint[])) AND q.status = 'doing'
