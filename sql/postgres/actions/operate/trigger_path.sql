-- For this transaction, lets triggers of a table find objects without a schema in the schema of the table. Changes
-- nothing if no trigger needs it, or if another role than the schema's owner may create objects there: its functions
-- could stand in for others. The owner could replace the table and its triggers anyway.
-- {table}  the table
-- > added  true; no row if nothing was changed
SELECT pg_catalog.set_config('search_path', pg_catalog.replace(pg_catalog.current_setting('search_path'), 'pg_temp',
                             pg_catalog.quote_ident(n.nspname) || ', pg_temp'), true) IS NOT NULL AS added
FROM pg_catalog.pg_class AS c
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.oid = pg_catalog.to_regclass({table!literal})
    AND EXISTS (
        SELECT FROM pg_catalog.pg_trigger AS t
        JOIN pg_catalog.pg_proc AS f ON f.oid = t.tgfoid
        WHERE (t.tgrelid = c.oid OR t.tgrelid IN (SELECT p.relid FROM pg_catalog.pg_partition_tree(c.oid) AS p))
            AND NOT t.tgisinternal
            AND NOT EXISTS (
                SELECT FROM pg_catalog.unnest(f.proconfig) AS s(setting) WHERE s.setting LIKE 'search_path=%'
            )
    )
    AND NOT EXISTS (
        SELECT FROM pg_catalog.aclexplode(n.nspacl) AS a WHERE a.privilege_type = 'CREATE' AND a.grantee <> n.nspowner
    )
