-- What lies behind the names of queues that cannot be watched: another answer than before is worth a look at the catalogue.
-- :names   names of tables, as an array
-- > found a number made of the tables that are called so, and of what our role may do with them
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
