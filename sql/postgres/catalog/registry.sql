-- Whether this database has qmon's registry, and whether our role may read it.
-- > installed  the registry is there
-- > readable   our role may read it
SELECT count(*) > 0                                                                             AS installed,
       coalesce(bool_and(pg_catalog.has_schema_privilege(n.oid, 'USAGE')
                         AND pg_catalog.has_table_privilege(c.oid, 'SELECT')), false)           AS readable
FROM pg_catalog.pg_class AS c
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = 'qmon' AND c.relname = 'queues'
