-- What the statistics counters say about some tables since they were last reset.
-- :tables     oids, separated by commas
-- > table_id  the table's oid
-- > inserted  rows inserted, those rolled back too
-- > updated   rows updated
-- > deleted   rows deleted
-- > live      rows there are, estimated
SELECT CAST(c.oid AS bigint)                                AS table_id,
       pg_catalog.pg_stat_get_tuples_inserted(c.oid)        AS inserted,
       pg_catalog.pg_stat_get_tuples_updated(c.oid)         AS updated,
       pg_catalog.pg_stat_get_tuples_deleted(c.oid)         AS deleted,
       pg_catalog.pg_stat_get_live_tuples(c.oid)            AS live
FROM pg_catalog.pg_class AS c
WHERE c.oid = ANY (CAST(string_to_array(:tables, ',') AS oid[]))
ORDER BY c.oid
