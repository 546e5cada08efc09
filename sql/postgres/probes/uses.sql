-- The use of the tables of the queues and their indexes, from statistics counters; reads no table.
-- The totals include the reads of our own session, which are not known before version 15.
-- The use of a parent is the sum of its partitions, and the use of a parent's index is the sum of the partitions'
-- indexes.
-- :tables      table ids as an array, {1,2}
-- > table_id   as asked
-- > index_id   the index; 0: the table itself
-- > name       of the index or table
-- > role       table, primary, unique, index
-- > scans      scans begun
-- > rows_read  rows or index entries that scans have returned
-- > pages      pages touched
-- > own_rows   NULL: unknown
-- > own_pages  NULL: unknown
-- > bytes      NULL: see "sizes"
-- > latch_waits  NULL: not counted
-- > latch_wait_s NULL: not counted
-- > lock_waits   NULL: not counted
-- > lock_wait_s  NULL: not counted
-- > splits       NULL: not counted
-- > forwarded    NULL: there are none
-- > io_waits     NULL: not counted
-- > ghosted      NULL: not counted
-- > escalations_tried NULL: locks are not escalated
-- > escalations  NULL: the same
-- > sequential   NULL: there is no such option
-- > ghosts       of a table its dead rows
-- > own_scans  NULL: unknown
WITH RECURSIVE part AS (
    SELECT r.table_id, r.id AS root, r.id, r.role
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
    UNION ALL
    SELECT p.table_id, p.root, i.inhrelid, p.role
    FROM part AS p
    JOIN pg_inherits AS i ON i.inhparent = p.id
)
SELECT
    CAST(p.table_id AS bigint) AS table_id,
    CASE p.root WHEN p.table_id THEN 0 ELSE CAST(p.root AS bigint) END AS index_id,
    CAST(c.relname AS text) AS name,
    p.role,
    CAST(sum(pg_stat_get_numscans(p.id)) AS bigint) AS scans,
    CAST(sum(pg_stat_get_tuples_returned(p.id)) AS bigint) AS rows_read,
    CAST(sum(pg_stat_get_blocks_fetched(p.id)) AS bigint) AS pages,
    CAST(NULL AS bigint) AS own_rows,
    CAST(NULL AS bigint) AS own_pages,
    CAST(NULL AS bigint) AS bytes,
    CAST(NULL AS bigint) AS latch_waits,
    CAST(NULL AS float8) AS latch_wait_s,
    CAST(NULL AS bigint) AS lock_waits,
    CAST(NULL AS float8) AS lock_wait_s,
    CAST(NULL AS bigint) AS splits,
    CAST(NULL AS bigint) AS forwarded,
    CAST(NULL AS bigint) AS io_waits,
    CAST(NULL AS bigint) AS ghosted,
    CAST(NULL AS bigint) AS escalations_tried,
    CAST(NULL AS bigint) AS escalations,
    CAST(NULL AS boolean) AS sequential,
    CAST(sum(CASE p.role WHEN 'table' THEN pg_stat_get_dead_tuples(p.id) END) AS bigint) AS ghosts,
    CAST(NULL AS bigint) AS own_scans
FROM part AS p
JOIN pg_class AS c ON c.oid = p.root
GROUP BY p.table_id, p.root, p.role, c.relname
LIMIT 1000
