-- Whether the acting role has the right that it needs on one object of a queue.
-- {object}   the object
-- :kind      switch (to set it), archive (to insert), or routine (to call it)
-- > present  it is there
-- > allowed  the role may
SELECT to_regclass({object!literal}) IS NOT NULL OR to_regproc({object!literal}) IS NOT NULL AS present,
       coalesce(
           CASE CAST(:kind AS text)
               WHEN 'switch' THEN pg_catalog.has_sequence_privilege(o.oid, to_regclass({object!literal}), 'UPDATE')
               WHEN 'archive' THEN pg_catalog.has_table_privilege(o.oid, to_regclass({object!literal}), 'INSERT')
               ELSE pg_catalog.has_function_privilege(o.oid, to_regproc({object!literal}), 'EXECUTE')
           END, false
       ) AS allowed
FROM (SELECT 1) AS one
LEFT JOIN pg_catalog.pg_roles AS o ON o.rolname = 'qmon_operator'
