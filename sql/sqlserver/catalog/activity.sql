-- What the server has counted of some tables since it last read them into memory, and the rows there are. Needs
-- VIEW DATABASE STATE.
-- :tables     object ids, separated by commas
-- > table_id  the table's object id
-- > inserted  rows inserted, those rolled back too
-- > updated   rows updated
-- > deleted   rows deleted
-- > live      rows there are
WITH wanted AS (
    SELECT v.item.value('.', 'int') AS object_id
    FROM (
        SELECT CAST(N'<i>' + REPLACE(CAST(:tables AS nvarchar(max)), N',', N'</i><i>') + N'</i>' AS xml) AS list
    ) AS l
    CROSS APPLY l.list.nodes('/i') AS v(item)
)
SELECT w.object_id                                                                      AS table_id,
       CAST(COALESCE(o.inserted, 0) AS bigint)                                          AS inserted,
       CAST(COALESCE(o.updated, 0) AS bigint)                                           AS updated,
       CAST(COALESCE(o.deleted, 0) AS bigint)                                           AS deleted,
       CAST(COALESCE(p.live, 0) AS bigint)                                              AS live
FROM wanted AS w
OUTER APPLY (
    SELECT SUM(s.leaf_insert_count) AS inserted, SUM(s.leaf_update_count) AS updated,
           SUM(s.leaf_delete_count + s.leaf_ghost_count) AS deleted
    FROM sys.dm_db_index_operational_stats(DB_ID(), w.object_id, NULL, NULL) AS s
    WHERE s.index_id IN (0, 1)
) AS o
OUTER APPLY (
    SELECT SUM(d.row_count) AS live
    FROM sys.dm_db_partition_stats AS d
    WHERE d.object_id = w.object_id AND d.index_id IN (0, 1)
) AS p
ORDER BY w.object_id
