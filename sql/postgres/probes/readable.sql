-- Whether our role may read these tables. Used only for tables that our role could not read, until it may read them.
-- :tables    table ids, as an array
-- > table_id as asked
-- > readable the role may read all of it
SELECT
    CAST(c.oid AS bigint) AS table_id,
    coalesce(has_schema_privilege(c.relnamespace, 'USAGE') AND has_table_privilege(c.oid, 'SELECT'), false) AS readable
FROM pg_class AS c
WHERE c.oid = ANY(CAST(:tables AS oid[]))
