-- Whether pauses can be read or recorded in this database.
-- > recorded    the table of pauses is there
-- > readable    we may read it
-- > writable    we may write into it
-- > can_create  we may make it
SELECT known.oid IS NOT NULL                                                         AS recorded,
       coalesce(has_schema_privilege(home.oid, 'USAGE')
           AND has_table_privilege(known.oid, 'SELECT'), false)                      AS readable,
       coalesce(has_schema_privilege(home.oid, 'USAGE')
           AND has_table_privilege(known.oid, 'SELECT') AND has_column_privilege(known.oid, 'queue', 'INSERT')
           AND has_function_privilege(to_regproc('qmon.lift_pauses'), 'EXECUTE'),
           false)                                                                    AS writable,
       CASE WHEN home.oid IS NULL THEN has_database_privilege(current_database(), 'CREATE')
            ELSE has_schema_privilege(home.oid, 'CREATE') END                        AS can_create
FROM (SELECT 1) AS one
LEFT JOIN pg_catalog.pg_namespace AS home ON home.nspname = 'qmon'
LEFT JOIN pg_catalog.pg_class AS known ON known.relnamespace = home.oid AND known.relname = 'pauses'
