-- What waits is cancelled (procrastinate_cancel_job_v1) and stays until it is pruned; what has failed is deleted.
-- {table}    the jobs
-- {procrastinate_cancel_job_v1}  the library's function
-- :ids       which, an array as text
-- > id       one that is done
WITH path AS MATERIALIZED (
    SELECT (
        -- The library's functions and triggers name its objects without their schema. They find them there, unless others than
        -- the schema's owner can create some in it. This statement itself has been parsed before.
        SELECT set_config('search_path', 'pg_catalog, ' || CASE WHEN EXISTS (
            SELECT FROM aclexplode(n.nspacl) AS a WHERE a.privilege_type = 'CREATE' AND a.grantee <> n.nspowner
        ) THEN '' ELSE quote_ident(n.nspname) || ', ' END || 'pg_temp', true)
        FROM pg_catalog.pg_class AS c
        JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
        WHERE c.oid = to_regclass({table!literal})
    ) AS path
),
gone AS (
    DELETE FROM {table} WHERE id = ANY (CAST(:ids AS bigint[])) AND status = 'failed'
        AND (SELECT p.path FROM path AS p) IS NOT NULL
    RETURNING id
)
SELECT CAST(g.id AS text) AS id FROM gone AS g
UNION ALL
SELECT CAST(done.id AS text)
FROM {table} AS q
CROSS JOIN LATERAL {procrastinate_cancel_job_v1}(q.id, false, false) AS done (id)
WHERE q.id = ANY (CAST(:ids AS bigint[])) AND q.status = 'todo' AND done.id IS NOT NULL
    AND (SELECT p.path FROM path AS p) IS NOT NULL
