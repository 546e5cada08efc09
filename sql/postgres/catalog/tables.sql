-- Every table of the users, and what our role may do with it. Leaves out partitions, system tables, unlogged tables on
-- a standby (they cannot be read there), and tables that were just dropped (the server reports no rights for them).
-- > table_id        its oid
-- > table_schema    its schema
-- > table_name      its name
-- > visible         preferred if several tables have a name: its schema is public, or is named like our role. The
--                  search_path is ignored, because the owner of the database may set it
-- > readable        our role may read it
-- > estimated_rows  rows as last counted by VACUUM or ANALYZE, of a parent those of its partitions; NULL if never
-- > pages           pages of 8 kB as last counted
SELECT CAST(c.oid AS bigint)                                                AS table_id,
       CAST(n.nspname AS text)                                              AS table_schema,
       CAST(c.relname AS text)                                              AS table_name,
       coalesce(n.nspname IN (current_user, 'public'))                       AS visible,
       r.readable,
       CASE WHEN c.relkind = 'p' THEN b.row_total
            WHEN c.reltuples >= 0 THEN CAST(c.reltuples AS bigint) END      AS estimated_rows,
       CASE WHEN c.relkind = 'p' THEN b.page_total
            ELSE CAST(c.relpages AS bigint) END                             AS pages
FROM pg_catalog.pg_class AS c
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
CROSS JOIN LATERAL (
    SELECT pg_catalog.has_schema_privilege(n.oid, 'USAGE')
               AND pg_catalog.has_any_column_privilege(c.oid, 'SELECT') AS readable
    OFFSET 0 -- asked once: a second answer may differ
) AS r
LEFT JOIN LATERAL (
    WITH RECURSIVE part AS (
        SELECT c.oid AS id
        UNION ALL
        SELECT i.inhrelid
        FROM part AS p
        JOIN pg_catalog.pg_inherits AS i ON i.inhparent = p.id
    )
    SELECT CAST(sum(CASE WHEN m.reltuples >= 0 THEN m.reltuples END) AS bigint) AS row_total,
           coalesce(CAST(sum(greatest(m.relpages, 0)) AS bigint), 0)            AS page_total
    FROM part AS p
    JOIN pg_catalog.pg_class AS m ON m.oid = p.id AND m.relkind <> 'p'
) AS b ON c.relkind = 'p'
WHERE c.relkind IN ('r', 'p')
  AND NOT c.relispartition
  AND r.readable IS NOT NULL
  AND c.relpersistence <> 't'
  AND NOT (c.relpersistence = 'u' AND pg_catalog.pg_is_in_recovery())
  AND n.nspname NOT LIKE 'pg\_%'
  AND n.nspname NOT IN ('information_schema', 'qmon')
ORDER BY n.nspname, c.relname
