-- The server's counters of a table since it was last loaded into memory, and its number of rows. The id is given,
-- because NULL would return every table. Needs VIEW DATABASE STATE (2022 and later: VIEW DATABASE PERFORMANCE STATE).
-- :table_id   its object id
-- > table_id  as asked
-- > inserted  rows inserted, those rolled back too
-- > updated   rows updated
-- > deleted   rows deleted
-- > live      rows there are
SELECT CAST(:table_id AS int)                                                           AS table_id,
       COALESCE(o.inserted, 0)                                                          AS inserted,
       COALESCE(o.updated, 0)                                                           AS updated,
       COALESCE(o.deleted, 0)                                                           AS deleted,
       COALESCE(p.live, 0)                                                              AS live
FROM (
    SELECT CAST(SUM(s.leaf_insert_count) AS bigint) AS inserted, CAST(SUM(s.leaf_update_count) AS bigint) AS updated,
           CAST(SUM(s.leaf_delete_count + s.leaf_ghost_count) AS bigint) AS deleted
    FROM sys.dm_db_index_operational_stats(DB_ID(), COALESCE(CAST(:table_id AS int), -1), NULL, NULL) AS s
    WHERE s.index_id IN (0, 1)
) AS o
CROSS JOIN (
    SELECT CAST(SUM(r.rows) AS bigint) AS live
    FROM sys.partitions AS r
    WHERE r.object_id = CAST(:table_id AS int)
        AND r.index_id IN (0, 1)
) AS p
