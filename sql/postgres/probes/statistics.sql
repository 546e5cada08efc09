-- The statistics that plans are made by, of the tables of the queues; reads no table.
-- :tables          table ids as an array, {1,2}
-- > table_id       as asked
-- > estimated_rows rows when they were last updated; NULL: never
-- > rows           rows now, as the server counts them
-- > modified       rows inserted, updated or deleted since
-- > updated_at     when, seconds since the epoch; NULL: never since the counters were reset
-- > updates        how often since the counters were reset
SELECT
    CAST(c.oid AS bigint) AS table_id,
    CAST(CASE WHEN c.reltuples >= 0 THEN c.reltuples END AS bigint) AS estimated_rows,
    pg_stat_get_live_tuples(c.oid) AS rows,
    pg_stat_get_mod_since_analyze(c.oid) AS modified,
    CAST(
        extract(epoch FROM greatest(pg_stat_get_last_analyze_time(c.oid), pg_stat_get_last_autoanalyze_time(c.oid)))
        AS float8
    ) AS updated_at,
    pg_stat_get_analyze_count(c.oid) + pg_stat_get_autoanalyze_count(c.oid) AS updates
FROM unnest(CAST(:tables AS oid[])) AS t(id)
JOIN pg_class AS c ON c.oid = t.id
