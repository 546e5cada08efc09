-- They are due now, as another attempt (procrastinate_retry_job_v2).
-- {table}    the jobs
-- {procrastinate_retry_job_v2}  the library's function
-- :ids       which, an array as text
-- > id       one that is done
SELECT CAST(q.id AS text) AS id
FROM {table} AS q
CROSS JOIN LATERAL {procrastinate_retry_job_v2}(q.id, now(), NULL, NULL, NULL) AS done
WHERE q.id = ANY (CAST(:ids AS bigint[])) AND q.status = 'failed'
    AND (
        -- The library's functions and triggers name its objects without their schema. They find them there, unless others than
        -- the schema's owner can create some in it. This statement itself has been parsed before.
        SELECT set_config('search_path', 'pg_catalog, ' || CASE WHEN EXISTS (
            SELECT FROM aclexplode(n.nspacl) AS a WHERE a.privilege_type = 'CREATE' AND a.grantee <> n.nspowner
        ) THEN '' ELSE quote_ident(n.nspname) || ', ' END || 'pg_temp', true)
        FROM pg_catalog.pg_class AS c
        JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
        WHERE c.oid = to_regclass({table!literal})
    ) IS NOT NULL
