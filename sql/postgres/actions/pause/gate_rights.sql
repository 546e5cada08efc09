-- Whether a gate can be installed on a table, and the effects of the gate.
-- {table}       the table
-- > may_create  our role may create triggers on it, and objects in qmon's schema
-- > owns        our role owns it, as taking a gate away needs
-- > kind        table, partitioned table, partition, or other
-- > instead     it has INSTEAD OF triggers; always false here
-- > above       the parent of this partition, if the parent has a gate; otherwise NULL
-- > heirs       other tables inherit from it, without being its partitions
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
       false                                                 AS instead,
       (
           SELECT CAST(a.relid AS text)
           FROM pg_partition_ancestors(c.oid) AS a
           JOIN pg_catalog.pg_trigger AS t ON t.tgrelid = a.relid
           WHERE a.relid <> c.oid AND t.tgname = 'qmon_gate' AND t.tgparentid = 0
       )                                                     AS above,
       c.relkind = 'r' AND EXISTS (
           SELECT FROM pg_catalog.pg_inherits AS i WHERE i.inhparent = c.oid
       )                                                     AS heirs
FROM pg_catalog.pg_class AS c
WHERE c.oid = to_regclass({table!literal})
