-- Rights that our role lacks to change a table or to set a sequence, as the statement that grants them; no row if none
-- are missing.
-- {table}   the table or sequence
-- :needed   privileges, separated by commas
-- > helps   a GRANT
SELECT format('GRANT %s ON %I.%I TO %I', string_agg(n.privilege, ', ' ORDER BY n.privilege), s.nspname, c.relname,
              current_user) AS helps
FROM unnest(string_to_array(:needed, ',')) AS n(privilege)
CROSS JOIN pg_catalog.pg_class AS c
JOIN pg_catalog.pg_namespace AS s ON s.oid = c.relnamespace
WHERE c.oid = to_regclass({table!literal})
  -- what numbers an identity is drawn from with the table's own rights
  AND NOT EXISTS (
      SELECT FROM pg_catalog.pg_depend AS d
      WHERE d.classid = CAST('pg_class' AS regclass) AND d.objid = c.oid AND d.deptype = 'i' AND c.relkind = 'S'
  )
  AND NOT pg_catalog.has_table_privilege(c.oid, n.privilege)
GROUP BY s.nspname, c.relname
