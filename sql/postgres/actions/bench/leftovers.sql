-- Schemas of interrupted benches that were not dropped.
-- > schema their names
SELECT CAST(n.nspname AS text) AS schema
FROM pg_catalog.pg_namespace AS n
WHERE obj_description(n.oid, 'pg_namespace') = 'qmon bench: scratch tables, dropped when the bench ends'
    AND NOT EXISTS (
        SELECT FROM pg_stat_get_activity(NULL) AS a WHERE starts_with(a.application_name, 'qmon ' || n.nspname)
    )
ORDER BY 1
