-- Whether a gate can be put on a table, and what it would mean there.
-- {table}       the table
-- > may_create  our role may create triggers on it, and objects in qmon's schema
-- > owns        our role owns it, as taking a gate away needs
-- > kind        table, partitioned table, partition, or other
-- > instead     it has INSTEAD OF triggers; always false here
SELECT has_table_privilege(c.oid, 'TRIGGER')
           AND coalesce(
               (
                   SELECT has_schema_privilege(n.oid, 'CREATE')
                   FROM pg_catalog.pg_namespace AS n
                   WHERE n.nspname = 'qmon'
               ),
               has_database_privilege(current_database(), 'CREATE')
           )                                                 AS may_create,
       pg_has_role(c.relowner, 'USAGE')                      AS owns,
       CASE WHEN c.relkind = 'p' THEN 'partitioned table'
            WHEN c.relispartition THEN 'partition'
            WHEN c.relkind = 'r' THEN 'table'
            ELSE 'other' END                                 AS kind,
       false                                                 AS instead
FROM pg_catalog.pg_class AS c
WHERE c.oid = to_regclass({table!literal})
