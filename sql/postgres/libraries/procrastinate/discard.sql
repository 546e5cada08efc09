-- Waiting jobs are cancelled (procrastinate_cancel_job_v1) and stay until the library prunes them; failed jobs are
-- deleted.
-- {table}    the jobs
-- {procrastinate_cancel_job_v1}  the library's function
-- :ids       which, an array as text
-- > id       one that is done
WITH gone AS (
    DELETE FROM {table} WHERE id = ANY (CAST(:ids AS bigint[])) AND status = 'failed' RETURNING id
)
SELECT CAST(g.id AS text) AS id FROM gone AS g
UNION ALL
SELECT CAST(done.id AS text)
FROM {table} AS q
CROSS JOIN LATERAL {procrastinate_cancel_job_v1}(q.id, false, false) AS done (id)
WHERE q.id = ANY (CAST(:ids AS bigint[])) AND q.status = 'todo' AND done.id IS NOT NULL
