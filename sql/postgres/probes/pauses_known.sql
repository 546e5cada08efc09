-- Whether this database has trusted tables of pauses and operations that our role may read: see catalog/trust.
-- > readable    pauses
-- > operations  operations
SELECT coalesce(bool_or(k.trusted) FILTER (WHERE k.relname = 'pauses'), false)     AS readable,
       coalesce(bool_or(k.trusted) FILTER (WHERE k.relname = 'operations'), false) AS operations
FROM (
    SELECT c.relname,
           has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')
               AND c.relkind = 'r' AND c.relowner = n.nspowner AND NOT c.relrowsecurity AND NOT c.relhassubclass
               AND (r.rolsuper OR r.rolname = current_user
                    OR r.rolname = pg_catalog.current_setting('qmon.schema_owner', true)) AS trusted
    FROM pg_catalog.pg_namespace AS n
    JOIN pg_catalog.pg_roles AS r ON r.oid = n.nspowner
    JOIN pg_catalog.pg_class AS c ON c.relnamespace = n.oid AND c.relname IN ('pauses', 'operations')
    WHERE n.nspname = 'qmon'
) AS k
