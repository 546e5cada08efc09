-- The server's counters for the tables and sequences of a bench. Sessions report their counts when they end: read the
-- counters before the load connects and after it has disconnected.
-- :schema    the schema of the bench
-- :gate      names of sequences that are the bench's own, as an array
-- > wal      bytes of write-ahead log that the whole server has written
-- > heap     buffers touched of tables and sequences
-- > idx      buffers touched of indexes
-- > toast    buffers touched of payloads stored apart, with their indexes
-- > missed   of all these, buffers that were not in shared buffers
-- > dead     dead rows
-- > updated  rows updated
-- > hot      rows updated within their page without touching an index
-- > vacuums  times a table was vacuumed
-- > bytes    size of tables, indexes and payloads
-- > deadlocks deadlocks in this database
SELECT
    CAST(pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') AS bigint) AS wal,
    CAST(t.heap + s.heap AS bigint) AS heap,
    CAST(t.idx AS bigint) AS idx,
    CAST(t.toast AS bigint) AS toast,
    CAST(t.missed AS bigint) AS missed,
    CAST(c.dead AS bigint) AS dead,
    CAST(c.updated AS bigint) AS updated,
    CAST(c.hot AS bigint) AS hot,
    CAST(c.vacuums AS bigint) AS vacuums,
    CAST(c.bytes AS bigint) AS bytes,
    (SELECT d.deadlocks FROM pg_stat_database AS d WHERE d.datname = current_database()) AS deadlocks
FROM (
    SELECT
        coalesce(sum(i.heap_blks_read + i.heap_blks_hit), 0) AS heap,
        coalesce(sum(i.idx_blks_read + i.idx_blks_hit), 0) AS idx,
        coalesce(sum(coalesce(i.toast_blks_read, 0) + coalesce(i.toast_blks_hit, 0)
            + coalesce(i.tidx_blks_read, 0) + coalesce(i.tidx_blks_hit, 0)), 0) AS toast,
        coalesce(sum(i.heap_blks_read + coalesce(i.idx_blks_read, 0)
            + coalesce(i.toast_blks_read, 0) + coalesce(i.tidx_blks_read, 0)), 0) AS missed
    FROM pg_statio_all_tables AS i
    WHERE i.schemaname = :schema
) AS t
CROSS JOIN (
    SELECT coalesce(sum(q.blks_read + q.blks_hit), 0) AS heap
    FROM pg_statio_all_sequences AS q
    WHERE q.schemaname = :schema
        AND CAST(q.relname AS text) <> ALL (CAST(:gate AS text[]))
) AS s
CROSS JOIN (
    SELECT
        coalesce(sum(a.n_dead_tup), 0) AS dead,
        coalesce(sum(a.n_tup_upd), 0) AS updated,
        coalesce(sum(a.n_tup_hot_upd), 0) AS hot,
        coalesce(sum(a.vacuum_count + a.autovacuum_count), 0) AS vacuums,
        coalesce(sum(pg_total_relation_size(a.relid)), 0) AS bytes
    FROM pg_stat_all_tables AS a
    WHERE a.schemaname = :schema
) AS c
