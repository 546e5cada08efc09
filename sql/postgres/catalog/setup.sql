-- The objects of qmon that already exist.
-- > qmon_schema          the schema qmon
-- > registry             the table qmon.queues
-- > monitor_role         the role qmon_monitor
-- > operator_role        the role qmon_operator
-- > monitor_statistics   qmon_monitor sees the sessions of others
-- > monitor_registry     qmon_monitor reads the registry
-- > operator_monitor     qmon_operator is a member of qmon_monitor
-- > operator_signal      qmon_operator ends sessions
-- > operations           the table qmon.operations
-- > operator_operations  qmon_operator writes down its own operations
-- > monitor_operations   qmon_monitor reads it, or there is none
-- > pauses               the table qmon.pauses
-- > monitor_pauses       qmon_monitor reads it, or there is none
-- > operator_pauses      qmon_operator writes it
-- > operator_stores      qmon_operator may make stores, and use those that there are, and all gates
SELECT n.oid IS NOT NULL                                                                AS qmon_schema,
       q.oid IS NOT NULL                                                                AS registry,
       m.oid IS NOT NULL                                                                AS monitor_role,
       o.oid IS NOT NULL                                                                AS operator_role,
       coalesce(pg_catalog.pg_has_role(m.oid, 'pg_read_all_stats', 'USAGE'), false)     AS monitor_statistics,
       coalesce(pg_catalog.has_schema_privilege(m.oid, n.oid, 'USAGE')
                AND pg_catalog.has_table_privilege(m.oid, q.oid, 'SELECT'), false)      AS monitor_registry,
       coalesce(pg_catalog.pg_has_role(o.oid, m.oid, 'USAGE'), false)                   AS operator_monitor,
       coalesce(pg_catalog.pg_has_role(o.oid, 'pg_signal_backend', 'USAGE'), false)     AS operator_signal,
       k.oid IS NOT NULL                                                                AS operations,
       coalesce(pg_catalog.has_column_privilege(o.oid, k.oid, 'id', 'INSERT')
                AND pg_catalog.has_function_privilege(o.oid, pg_catalog.to_regproc('qmon.operation_count'), 'EXECUTE'),
                false)                                                                  AS operator_operations,
       k.oid IS NULL
           OR coalesce(pg_catalog.has_table_privilege(m.oid, k.oid, 'SELECT'), false)   AS monitor_operations,
       p.oid IS NOT NULL                                                                AS pauses,
       p.oid IS NULL
           OR coalesce(pg_catalog.has_table_privilege(m.oid, p.oid, 'SELECT'), false)   AS monitor_pauses,
       coalesce(pg_catalog.has_column_privilege(o.oid, p.oid, 'queue', 'INSERT')
                AND pg_catalog.has_function_privilege(o.oid, pg_catalog.to_regproc('qmon.lift_pauses'), 'EXECUTE'),
                false)                                                                  AS operator_pauses,
       coalesce(pg_catalog.has_function_privilege(o.oid, pg_catalog.to_regproc('qmon.make_store'), 'EXECUTE'), false)
       AND NOT EXISTS (
           SELECT FROM pg_catalog.pg_class AS c
           WHERE c.relnamespace = n.oid
               AND (
                   c.relkind = 'r' AND c.relname ~ '^(trash|kept)_[0-9]+$'
                       AND NOT coalesce(pg_catalog.has_table_privilege(o.oid, c.oid, 'DELETE'), false)
                   OR c.relkind = 'S' AND c.relname ~ '^gate_'
                       AND NOT coalesce(pg_catalog.has_sequence_privilege(o.oid, c.oid, 'UPDATE'), false)
               )
       )                                                                                AS operator_stores
FROM (SELECT 1) AS one
LEFT JOIN pg_catalog.pg_namespace AS n ON n.nspname = 'qmon'
LEFT JOIN pg_catalog.pg_class AS q ON q.relnamespace = n.oid AND q.relname = 'queues'
LEFT JOIN pg_catalog.pg_class AS k ON k.relnamespace = n.oid AND k.relname = 'operations'
LEFT JOIN pg_catalog.pg_class AS p ON p.relnamespace = n.oid AND p.relname = 'pauses'
LEFT JOIN pg_catalog.pg_roles AS m ON m.rolname = 'qmon_monitor'
LEFT JOIN pg_catalog.pg_roles AS o ON o.rolname = 'qmon_operator'
