-- How the tables of the queues and their indexes are used, from statistics counters; reads no table.
-- What our own session has read is in the totals as well, and not known before version 15.
-- :tables      table ids as an array, {1,2}
-- > table_id   as asked
-- > index_id   the index; 0: the table itself
-- > name       of the index or table
-- > role       table, primary, unique, index
-- > scans      scans begun
-- > rows_read  rows or index entries that scans have returned
-- > pages      pages touched
-- > own_rows   NULL: not known
-- > own_pages  NULL: not known
-- > bytes      its size
-- > latch_waits  NULL: not counted
-- > latch_wait_s NULL: not counted
-- > lock_waits   NULL: not counted
-- > lock_wait_s  NULL: not counted
-- > splits       NULL: not counted
-- > ghosts       of a table its dead rows
SELECT
    CAST(r.table_id AS bigint) AS table_id,
    CASE r.id WHEN r.table_id THEN 0 ELSE CAST(r.id AS bigint) END AS index_id,
    CAST(c.relname AS text) AS name,
    r.role,
    pg_stat_get_numscans(r.id) AS scans,
    pg_stat_get_tuples_returned(r.id) AS rows_read,
    pg_stat_get_blocks_fetched(r.id) AS pages,
    CAST(NULL AS bigint) AS own_rows,
    CAST(NULL AS bigint) AS own_pages,
    CASE r.role WHEN 'table' THEN pg_table_size(r.id) ELSE pg_relation_size(r.id) END AS bytes,
    CAST(NULL AS bigint) AS latch_waits,
    CAST(NULL AS float8) AS latch_wait_s,
    CAST(NULL AS bigint) AS lock_waits,
    CAST(NULL AS float8) AS lock_wait_s,
    CAST(NULL AS bigint) AS splits,
    CASE r.role WHEN 'table' THEN pg_stat_get_dead_tuples(r.id) END AS ghosts
FROM (
    SELECT t.id AS table_id, t.id, CAST('table' AS text) AS role
    FROM unnest(CAST(:tables AS oid[])) AS t(id)
    UNION ALL
    SELECT
        i.indrelid,
        i.indexrelid,
        CASE WHEN i.indisprimary THEN 'primary' WHEN i.indisunique THEN 'unique' ELSE 'index' END
    FROM unnest(CAST(:tables AS oid[])) AS t(id)
    JOIN pg_index AS i ON i.indrelid = t.id
) AS r
JOIN pg_class AS c ON c.oid = r.id
LIMIT 1000
