-- The number of rows that this session has written to a table and its partitions. The difference of two readings within
-- one transaction is the number of rows that statements and triggers wrote in between.
-- {table}     the table
-- > inserted  rows inserted
-- > updated   rows updated
-- > deleted   rows deleted
WITH tree AS MATERIALIZED (
    SELECT to_regclass({table!literal}) AS part
    UNION
    SELECT p.relid
    FROM pg_catalog.pg_partition_tree(to_regclass({table!literal})) AS p
)
SELECT CAST(coalesce(sum(pg_catalog.pg_stat_get_xact_tuples_inserted(t.part)), 0) AS bigint) AS inserted,
       CAST(coalesce(sum(pg_catalog.pg_stat_get_xact_tuples_updated(t.part)), 0) AS bigint)  AS updated,
       CAST(coalesce(sum(pg_catalog.pg_stat_get_xact_tuples_deleted(t.part)), 0) AS bigint)  AS deleted
FROM tree AS t
