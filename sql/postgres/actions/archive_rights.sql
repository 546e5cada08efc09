-- The GRANTs that our role lacks to archive. The design's routine runs with the rights of its caller.
-- {table}        the queue's table
-- {data?}        table of the payloads; NULL if they are in the same table
-- {archive_log}  the archive
-- {archive}      function of the design
-- > helps        a GRANT
WITH needed (object_id, privilege) AS (
    VALUES
        (to_regclass({table!literal}), 'SELECT'),
        (to_regclass({table!literal}), 'UPDATE'),
        (to_regclass({table!literal}), 'DELETE'),
        (to_regclass({data?!literal}), 'SELECT'),
        (to_regclass({data?!literal}), 'DELETE'),
        (to_regclass({archive_log!literal}), 'INSERT')
)
SELECT
    format(
        'GRANT %s ON %I.%I TO %I', string_agg(n.privilege, ', ' ORDER BY n.privilege), s.nspname, c.relname, current_user
    ) AS helps
FROM needed AS n
JOIN pg_catalog.pg_class AS c ON c.oid = n.object_id
JOIN pg_catalog.pg_namespace AS s ON s.oid = c.relnamespace
WHERE NOT has_table_privilege(c.oid, n.privilege)
GROUP BY s.nspname, c.relname
UNION ALL
SELECT format('GRANT EXECUTE ON FUNCTION %s TO %I', CAST(p.oid AS regprocedure), current_user)
FROM pg_catalog.pg_proc AS p
WHERE p.oid = to_regproc({archive!literal})
    AND NOT has_function_privilege(p.oid, 'EXECUTE')
ORDER BY helps
