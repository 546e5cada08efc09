-- Every sequence of the users, and whether our role may read its position; without sequences that were just dropped,
-- for which the server reports no rights.
-- > sequence_id      its oid
-- > sequence_schema  its schema
-- > sequence_name    its name
-- > readable         our role may read its last value
-- > owned            some column owns it or is filled by it
SELECT CAST(c.oid AS bigint)                                                AS sequence_id,
       CAST(n.nspname AS text)                                              AS sequence_schema,
       CAST(c.relname AS text)                                              AS sequence_name,
       r.readable,
       EXISTS (
           SELECT FROM pg_catalog.pg_depend AS d
           WHERE d.classid = CAST('pg_class' AS regclass) AND d.objid = c.oid
             AND d.refclassid = CAST('pg_class' AS regclass) AND d.deptype IN ('a', 'i')
       ) OR EXISTS (
           SELECT FROM pg_catalog.pg_depend AS d
           WHERE d.classid = CAST('pg_attrdef' AS regclass)
             AND d.refclassid = CAST('pg_class' AS regclass) AND d.refobjid = c.oid
       )                                                                    AS owned
FROM pg_catalog.pg_class AS c
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
CROSS JOIN LATERAL (
    SELECT pg_catalog.has_schema_privilege(n.oid, 'USAGE')
               AND pg_catalog.has_sequence_privilege(c.oid, 'USAGE, SELECT') AS readable
    OFFSET 0 -- asked once: a second answer may differ
) AS r
WHERE c.relkind = 'S'
  AND r.readable IS NOT NULL
  AND c.relpersistence <> 't'
  AND n.nspname NOT LIKE 'pg\_%'
  AND n.nspname NOT IN ('information_schema', 'qmon')
ORDER BY n.nspname, c.relname
