-- Whether operations can be recorded in this database.
-- > recorded    the table of operations is there
-- > writable    we may write into it, and use the functions that count operations and make stores
-- > can_create  true: our role may create the missing objects
SELECT known.oid IS NOT NULL                                                         AS recorded,
       coalesce(has_schema_privilege(home.oid, 'USAGE')
           AND has_table_privilege(known.oid, 'SELECT') AND has_column_privilege(known.oid, 'id', 'INSERT')
           AND has_table_privilege(stores.oid, 'SELECT')
           AND has_function_privilege(to_regproc('qmon.operation_count'), 'EXECUTE')
           AND has_function_privilege(to_regproc('qmon.make_store'), 'EXECUTE'),
           false)                                                                    AS writable,
       CASE WHEN home.oid IS NULL THEN has_database_privilege(current_database(), 'CREATE')
            ELSE pg_has_role(home.nspowner, 'MEMBER') END                            AS can_create
FROM (SELECT 1) AS one
LEFT JOIN pg_catalog.pg_namespace AS home ON home.nspname = 'qmon'
LEFT JOIN pg_catalog.pg_class AS known ON known.relnamespace = home.oid AND known.relname = 'operations'
LEFT JOIN pg_catalog.pg_class AS stores ON stores.relnamespace = home.oid AND stores.relname = 'stores'
