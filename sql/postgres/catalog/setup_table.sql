-- A table of a library, and the sequences that number its rows: the objects that roles need rights on.
-- {table}      the table
-- > object_id  its oid, or that of a sequence
SELECT CAST(c.oid AS bigint) AS object_id
FROM pg_catalog.pg_class AS c
WHERE c.oid = to_regclass({table!literal})
UNION
SELECT CAST(c.oid AS bigint)
FROM pg_catalog.pg_depend AS d
JOIN pg_catalog.pg_class AS c ON c.oid = d.objid AND c.relkind = 'S'
WHERE d.classid = CAST('pg_class' AS regclass)
  AND d.refclassid = CAST('pg_class' AS regclass)
  AND d.refobjid = to_regclass({table!literal})
  AND d.deptype = 'a'
