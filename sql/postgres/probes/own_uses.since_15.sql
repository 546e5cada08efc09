-- What our own session has read of the tables of the queues and has not handed in yet; it does so at the end of this
-- transaction. Reads no table.
-- :tables      table ids as an array, {1,2}
-- > table_id   as asked
-- > index_id   the index; 0: the table itself
-- > rows_read  rows or index entries that scans have returned
-- > pages      pages touched
SELECT
    CAST(r.table_id AS bigint) AS table_id,
    CASE r.id WHEN r.table_id THEN 0 ELSE CAST(r.id AS bigint) END AS index_id,
    pg_stat_get_xact_tuples_returned(r.id) AS rows_read,
    pg_stat_get_xact_blocks_fetched(r.id) AS pages
FROM (
    SELECT t.id AS table_id, t.id
    FROM unnest(CAST(:tables AS oid[])) AS t(id)
    UNION ALL
    SELECT i.indrelid, i.indexrelid
    FROM unnest(CAST(:tables AS oid[])) AS t(id)
    JOIN pg_index AS i ON i.indrelid = t.id
) AS r
WHERE pg_stat_force_next_flush() IS NOT NULL
