-- What our own session has read from the tables of the queues and has not reported yet. The session reports it at the
-- end of this transaction. Reads no table.
-- :tables      table ids as an array, {1,2}
-- > table_id   as asked
-- > index_id   the index; 0: the table itself
-- > scans      scans begun
-- > rows_read  rows or index entries that scans have returned
-- > pages      pages touched
WITH RECURSIVE part AS (
    SELECT r.table_id, r.id AS root, r.id
    FROM (
        SELECT t.id AS table_id, t.id
        FROM unnest(CAST(:tables AS oid[])) AS t(id)
        UNION ALL
        SELECT i.indrelid, i.indexrelid
        FROM unnest(CAST(:tables AS oid[])) AS t(id)
        JOIN pg_index AS i ON i.indrelid = t.id
    ) AS r
    UNION ALL
    SELECT p.table_id, p.root, i.inhrelid
    FROM part AS p
    JOIN pg_inherits AS i ON i.inhparent = p.id
)
SELECT
    CAST(p.table_id AS bigint) AS table_id,
    CASE p.root WHEN p.table_id THEN 0 ELSE CAST(p.root AS bigint) END AS index_id,
    CAST(sum(pg_stat_get_xact_numscans(p.id)) AS bigint) AS scans,
    CAST(sum(pg_stat_get_xact_tuples_returned(p.id)) AS bigint) AS rows_read,
    CAST(sum(pg_stat_get_xact_blocks_fetched(p.id)) AS bigint) AS pages
FROM part AS p
WHERE pg_stat_force_next_flush() IS NOT NULL
GROUP BY p.table_id, p.root
