-- Whether this database records pauses that our role may read, in a table that is trusted: see catalog/trust.
-- > readable  it does
SELECT coalesce(
           has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')
               AND c.relkind = 'r' AND c.relowner = n.nspowner AND NOT c.relrowsecurity AND NOT c.relhassubclass
               AND (r.rolsuper OR r.rolname = current_user
                    OR r.rolname = pg_catalog.current_setting('qmon.schema_owner', true)),
           false
       ) AS readable
FROM (SELECT 1) AS one
LEFT JOIN pg_catalog.pg_namespace AS n ON n.nspname = 'qmon'
LEFT JOIN pg_catalog.pg_roles AS r ON r.oid = n.nspowner
LEFT JOIN pg_catalog.pg_class AS c ON c.relnamespace = n.oid AND c.relname = 'pauses'
