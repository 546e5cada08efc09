-- Which of qmon's roles may already use some tables and sequences.
-- :objects             oids, separated by commas
-- > object_schema      schema of the table or sequence
-- > object_name        its name
-- > is_sequence        it is a sequence
-- > monitor_schema     qmon_monitor may look into its schema
-- > monitor_object     qmon_monitor may read it
-- > operator_object    qmon_operator may change it, or draw from it
SELECT CAST(n.nspname AS text)                                                          AS object_schema,
       CAST(c.relname AS text)                                                          AS object_name,
       c.relkind = 'S'                                                                  AS is_sequence,
       coalesce(pg_catalog.has_schema_privilege(m.oid, n.oid, 'USAGE'), false)          AS monitor_schema,
       coalesce(CASE WHEN c.relkind = 'S' THEN pg_catalog.has_sequence_privilege(m.oid, c.oid, 'SELECT')
                     ELSE pg_catalog.has_table_privilege(m.oid, c.oid, 'SELECT') END, false) AS monitor_object,
       coalesce(CASE WHEN c.relkind = 'S' THEN pg_catalog.has_sequence_privilege(o.oid, c.oid, 'USAGE')
                          AND pg_catalog.has_sequence_privilege(o.oid, c.oid, 'UPDATE')
                     ELSE pg_catalog.has_table_privilege(o.oid, c.oid, 'INSERT')
                          AND pg_catalog.has_table_privilege(o.oid, c.oid, 'UPDATE')
                          AND pg_catalog.has_table_privilege(o.oid, c.oid, 'DELETE') END, false) AS operator_object
FROM pg_catalog.pg_class AS c
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
LEFT JOIN pg_catalog.pg_roles AS m ON m.rolname = 'qmon_monitor'
LEFT JOIN pg_catalog.pg_roles AS o ON o.rolname = 'qmon_operator'
WHERE c.oid = ANY (CAST(string_to_array(:objects, ',') AS oid[]))
ORDER BY n.nspname, c.relname
