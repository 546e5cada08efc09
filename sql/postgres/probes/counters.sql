-- The statistics counters of the queue tables, by table id; reads no table.
-- They lag by up to a second, stand still inside a long transaction, and inserted, updated and deleted count
-- rolled-back work; live, dead and modified_since_analyze count committed work until vacuum or analyze sets them anew.
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
-- > bytes                  size of the table's main part
SELECT
    CAST(t.id AS bigint) AS table_id,
    pg_stat_get_tuples_inserted(t.id) AS inserted,
    pg_stat_get_tuples_updated(t.id) AS updated,
    pg_stat_get_tuples_deleted(t.id) AS deleted,
    pg_stat_get_tuples_hot_updated(t.id) AS hot_updated,
    pg_stat_get_live_tuples(t.id) AS live,
    pg_stat_get_dead_tuples(t.id) AS dead,
    pg_stat_get_mod_since_analyze(t.id) AS modified_since_analyze,
    pg_stat_get_vacuum_count(t.id) + pg_stat_get_autovacuum_count(t.id) AS vacuums,
    pg_stat_get_analyze_count(t.id) + pg_stat_get_autoanalyze_count(t.id) AS analyzes,
    coalesce(pg_relation_size(t.id), 0) AS bytes
FROM unnest(CAST(:tables AS oid[])) AS t(id)
