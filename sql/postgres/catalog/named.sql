-- An object of this database with this name that is not among "tables": a view, a foreign table, a partition and so on,
-- with its base objects, one row per base object. Upper and lower case are not distinguished.
-- :its_schema   its schema, '' if none was named
-- :its_name     its name
-- > named_schema  its schema
-- > named_name    its name
-- > visible       preferred if several have the name, as in "tables"
-- > kind          its kind, as in qmon/monitor/catalog/relation_kind.py
-- > place         the foreign server that keeps it; NULL where this one does
-- > made_schema   schema of its base object or parent; NULL if there is none
-- > made_name     name of that
SELECT CAST(n.nspname AS text)                         AS named_schema,
       CAST(c.relname AS text)                         AS named_name,
       coalesce(n.nspname IN (current_user, 'public')) AS visible,
       CASE WHEN c.relispartition THEN 'partition'
            WHEN c.relkind = 'v' THEN 'view'
            WHEN c.relkind = 'm' THEN 'materialized view'
            WHEN c.relkind = 'f' THEN 'foreign table'
            WHEN c.relkind = 'S' THEN 'sequence'
            WHEN c.relkind IN ('i', 'I') THEN 'index'
            WHEN c.relkind = 'c' THEN 'type'
            WHEN c.relpersistence = 't' THEN 'temporary table'
            ELSE 'unlogged table of a standby' END     AS kind,
       CAST(s.srvname AS text)                         AS place,
       CAST(mn.nspname AS text)                        AS made_schema,
       CAST(m.relname AS text)                         AS made_name
FROM pg_catalog.pg_class AS c
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
LEFT JOIN pg_catalog.pg_foreign_table AS f ON f.ftrelid = c.oid
LEFT JOIN pg_catalog.pg_foreign_server AS s ON s.oid = f.ftserver
LEFT JOIN LATERAL (
    SELECT d.refobjid AS id
    FROM pg_catalog.pg_rewrite AS r
    JOIN pg_catalog.pg_depend AS d
      ON d.classid = CAST('pg_catalog.pg_rewrite' AS regclass) AND d.objid = r.oid
     AND d.refclassid = CAST('pg_catalog.pg_class' AS regclass) AND d.refobjid <> c.oid
    WHERE r.ev_class = c.oid AND c.relkind IN ('v', 'm')
    UNION
    SELECT i.inhparent FROM pg_catalog.pg_inherits AS i WHERE i.inhrelid = c.oid AND c.relispartition
) AS b ON true
LEFT JOIN pg_catalog.pg_class AS m ON m.oid = b.id
LEFT JOIN pg_catalog.pg_namespace AS mn ON mn.oid = m.relnamespace
WHERE lower(c.relname) = lower(CAST(:its_name AS text))
  AND (CAST(:its_schema AS text) = '' OR lower(n.nspname) = lower(CAST(:its_schema AS text)))
  AND n.nspname NOT IN ('pg_catalog', 'pg_toast', 'information_schema', 'qmon')
  AND (c.relkind NOT IN ('r', 'p') OR c.relispartition OR c.relpersistence = 't'
       OR (c.relpersistence = 'u' AND pg_catalog.pg_is_in_recovery()))
ORDER BY 1, 2, 6, 7
