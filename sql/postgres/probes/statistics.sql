-- The planner's statistics of the tables of the queues; reads no table.
-- For a parent, the sums of its partitions, because plans read the partitions, and the time of the newest update of a
-- partition.
-- :tables          table ids as an array, {1,2}
-- > table_id       as asked
-- > estimated_rows rows when they were last updated; NULL: never
-- > rows           rows now, as the server counts them
-- > modified       rows inserted, updated or deleted since
-- > updated_at     when, seconds since the epoch; NULL: never since the counters were reset
-- > updates        number since the counters were reset
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
    CAST(sum(CASE WHEN c.reltuples >= 0 THEN c.reltuples END) AS bigint) AS estimated_rows,
    CAST(sum(pg_stat_get_live_tuples(p.id)) AS bigint) AS rows,
    CAST(sum(pg_stat_get_mod_since_analyze(p.id)) AS bigint) AS modified,
    CAST(
        extract(epoch FROM max(greatest(
            pg_stat_get_last_analyze_time(p.id), pg_stat_get_last_autoanalyze_time(p.id)
        )))
        AS float8
    ) AS updated_at,
    CAST(sum(pg_stat_get_analyze_count(p.id) + pg_stat_get_autoanalyze_count(p.id)) AS bigint) AS updates
FROM part AS p
JOIN pg_class AS c ON c.oid = p.id AND c.relkind <> 'p'
GROUP BY p.table_id
