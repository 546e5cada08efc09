-- Every table of the users, partitions and the system's own left out, and what our role may do with it.
-- > table_id        its oid
-- > table_schema    its schema
-- > table_name      its name
-- > visible         found without naming the schema
-- > readable        our role may read it
-- > estimated_rows  rows as last counted by VACUUM or ANALYZE; NULL where never
-- > pages           pages of 8 kB as last counted
SELECT CAST(c.oid AS bigint)                                                AS table_id,
       CAST(n.nspname AS text)                                              AS table_schema,
       CAST(c.relname AS text)                                              AS table_name,
       pg_catalog.pg_table_is_visible(c.oid)                                AS visible,
       pg_catalog.has_schema_privilege(n.oid, 'USAGE')
           AND pg_catalog.has_any_column_privilege(c.oid, 'SELECT')         AS readable,
       CASE WHEN c.reltuples >= 0 THEN CAST(c.reltuples AS bigint) END      AS estimated_rows,
       CAST(c.relpages AS bigint)                                           AS pages
FROM pg_catalog.pg_class AS c
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p')
  AND NOT c.relispartition
  AND c.relpersistence <> 't'
  AND n.nspname NOT LIKE 'pg\_%'
  AND n.nspname NOT IN ('information_schema', 'qmon')
ORDER BY n.nspname, c.relname
