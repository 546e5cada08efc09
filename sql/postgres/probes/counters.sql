-- The statistics counters of the queue tables, by table id; reads no table.
-- A session updates the counters at most once a second while it works. If it becomes idle within that second, it
-- updates them ten seconds later (PGSTAT_MIN_INTERVAL and PGSTAT_IDLE_INTERVAL; measured on 15 and 18). The counters do
-- not change inside a long transaction. The counters inserted, updated and deleted include rolled-back work; live, dead
-- and modified_since_analyze contain committed work until vacuum or analyze sets them again.
-- A parent has no counters of its own: its sums include all partitions.
-- :tables table ids as an array, {1,2}
-- > table_id               as asked
-- > inserted               rows inserted, committed or not
-- > updated                rows updated, committed or not
-- > deleted                rows deleted, committed or not
-- > hot_updated            rows updated within their page without touching an index
-- > live                   rows alive: committed inserts less committed deletes
-- > dead                   rows dead
-- > modified_since_analyze rows inserted, updated or deleted by committed transactions
-- > vacuums                times vacuumed, by hand or not
-- > analyzes               times analyzed, by hand or not
-- > bytes                  size of the main part as last counted; measuring it would wait for table locks
-- > called                 its name as the server writes it now; only a number if it is gone
-- > readable               our role may read it
-- > files                  a number made of the files that hold its rows: another one after TRUNCATE, or with other partitions
-- > counted                always: PostgreSQL counts from the first row on
-- > partitions             NULL: PostgreSQL's counters do not depend on its cache
-- > altered                NULL: the same
WITH RECURSIVE part AS (
    SELECT t.id AS table_id, t.id
    FROM unnest(CAST(:tables AS oid[])) AS t(id)
    UNION ALL
    SELECT p.table_id, i.inhrelid
    FROM part AS p
    JOIN pg_inherits AS i ON i.inhparent = p.id
)
SELECT
    CAST(p.table_id AS bigint) AS table_id,
    CAST(sum(pg_stat_get_tuples_inserted(p.id)) AS bigint) AS inserted,
    CAST(sum(pg_stat_get_tuples_updated(p.id)) AS bigint) AS updated,
    CAST(sum(pg_stat_get_tuples_deleted(p.id)) AS bigint) AS deleted,
    CAST(sum(pg_stat_get_tuples_hot_updated(p.id)) AS bigint) AS hot_updated,
    CAST(sum(pg_stat_get_live_tuples(p.id)) AS bigint) AS live,
    CAST(sum(pg_stat_get_dead_tuples(p.id)) AS bigint) AS dead,
    CAST(sum(pg_stat_get_mod_since_analyze(p.id)) AS bigint) AS modified_since_analyze,
    CAST(sum(pg_stat_get_vacuum_count(p.id) + pg_stat_get_autovacuum_count(p.id)) AS bigint) AS vacuums,
    CAST(sum(pg_stat_get_analyze_count(p.id) + pg_stat_get_autoanalyze_count(p.id)) AS bigint) AS analyzes,
    coalesce(CAST(sum(greatest(m.relpages, 0)) AS bigint) * CAST(current_setting('block_size') AS bigint), 0) AS bytes,
    CAST(CAST(p.table_id AS regclass) AS text) AS called,
    coalesce(has_any_column_privilege(p.table_id, 'SELECT') AND (
        SELECT has_schema_privilege(c.relnamespace, 'USAGE') FROM pg_class AS c WHERE c.oid = p.table_id
    ), false) AS readable,
    CAST(sum(
        hashint8extended(CAST(p.id AS bigint) << 32 | CAST(coalesce(pg_relation_filenode(p.id), 0) AS bigint), 0) >> 20
    ) AS bigint) AS files,
    true AS counted,
    CAST(NULL AS bigint) AS partitions,
    CAST(NULL AS bigint) AS altered
FROM part AS p
LEFT JOIN pg_class AS m ON m.oid = p.id
GROUP BY p.table_id
