-- Rows that were inserted, updated and deleted in a table so far, by the server's counters. Counters may be a second
-- late (ten seconds for an idle session), and include rolled-back changes.
-- For a parent, the sums of the partitions.
-- {table}    the table
-- > inserted rows inserted
-- > updated  rows updated
-- > deleted  rows deleted
-- > live     existing rows: a rollback leaves none
WITH RECURSIVE part AS (
    SELECT CAST({table!literal}::regclass AS oid) AS id
    UNION ALL
    SELECT i.inhrelid
    FROM part AS p
    JOIN pg_inherits AS i ON i.inhparent = p.id
)
SELECT CAST(sum(pg_stat_get_tuples_inserted(p.id)) AS bigint) AS inserted,
       CAST(sum(pg_stat_get_tuples_updated(p.id)) AS bigint)  AS updated,
       CAST(sum(pg_stat_get_tuples_deleted(p.id)) AS bigint)  AS deleted,
       CAST(sum(pg_stat_get_live_tuples(p.id)) AS bigint)     AS live
FROM part AS p
