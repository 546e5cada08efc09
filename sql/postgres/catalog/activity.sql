-- The statistics counters of some tables since they were last reset; for a parent, the sums of
-- its partitions.
-- :tables     oids, separated by commas
-- > table_id  the table's oid
-- > inserted  rows inserted, those rolled back too
-- > updated   rows updated
-- > deleted   rows deleted
-- > live      estimated number of rows
WITH RECURSIVE part AS (
    SELECT c.oid AS table_id, c.oid AS id
    FROM pg_catalog.pg_class AS c
    WHERE c.oid = ANY (CAST(string_to_array(:tables, ',') AS oid[]))
    UNION ALL
    SELECT p.table_id, i.inhrelid
    FROM part AS p
    JOIN pg_catalog.pg_inherits AS i ON i.inhparent = p.id
)
SELECT CAST(p.table_id AS bigint)                                               AS table_id,
       CAST(sum(pg_catalog.pg_stat_get_tuples_inserted(p.id)) AS bigint)        AS inserted,
       CAST(sum(pg_catalog.pg_stat_get_tuples_updated(p.id)) AS bigint)         AS updated,
       CAST(sum(pg_catalog.pg_stat_get_tuples_deleted(p.id)) AS bigint)         AS deleted,
       CAST(sum(pg_catalog.pg_stat_get_live_tuples(p.id)) AS bigint)            AS live
FROM part AS p
GROUP BY p.table_id
ORDER BY p.table_id
