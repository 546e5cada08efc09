-- Rows that were inserted, updated and deleted in a table so far, by the counters of its clustered index or heap; they
-- include rolled-back changes.
-- {table}    the table
-- > inserted rows inserted
-- > updated  rows updated
-- > deleted  rows deleted
-- > live     existing rows: a rollback leaves none
SELECT CAST(ISNULL(SUM(s.leaf_insert_count), 0) AS bigint)                          AS inserted,
       CAST(ISNULL(SUM(s.leaf_update_count), 0) AS bigint)                          AS updated,
       CAST(ISNULL(SUM(s.leaf_delete_count + s.leaf_ghost_count), 0) AS bigint)     AS deleted,
       (
           SELECT CAST(SUM(p.rows) AS bigint)
           FROM sys.partitions AS p
           WHERE p.object_id = OBJECT_ID({table!literal}) AND p.index_id IN (0, 1)
       )                                                                            AS live
FROM sys.dm_db_index_operational_stats(DB_ID(), OBJECT_ID({table!literal}), NULL, NULL) AS s
WHERE s.index_id IN (0, 1)
