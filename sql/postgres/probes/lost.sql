-- The objects with the names of queues that cannot be watched: if the answer changes, the catalog is read again.
-- :names   names of tables, as an array
-- > found a hash of the tables with these names, and of our role's rights on them
SELECT
    coalesce(CAST(sum(
        hashint8extended(
            CAST(c.oid AS bigint) << 2
                | CASE WHEN has_schema_privilege(c.relnamespace, 'USAGE') THEN 2 ELSE 0 END
                | CASE WHEN has_any_column_privilege(c.oid, 'SELECT') THEN 1 ELSE 0 END,
            0
        ) >> 20
    ) AS bigint), 0) AS found
FROM pg_class AS c
WHERE c.relname = ANY(CAST(:names AS name[]))
