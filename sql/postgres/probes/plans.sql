-- Rows and pages read by the statements that pop or change rows of a queue's table, since pg_stat_statements began to
-- count them, and the durations of these statements. The names in its text identify a statement. qmon's own statements
-- are left out. The plan of a single call is not recorded. Needs pg_read_all_stats.
-- {counts}       the function pg_stat_statements, with its schema: sessions that watch may not read views of others
-- :name          the table's name
-- :pops          names of functions that pop, as an array
-- :limit         maximum number of statements
-- :chars         maximum characters of a statement
-- > statement_id its number in pg_stat_statements
-- > plan_id      empty: not known
-- > routine      empty: the text says which function is called
-- > age_s        NULL: unknown
-- > forced       false: plans are not forced here
-- > calls        all calls so far
-- > reads        pages that they have touched, in memory or not
-- > spent_s      seconds that they took
-- > calls_before 0: before is the earlier reading
-- > reads_before 0
-- > spent_before_s NULL
-- > statement    the beginning of its text
SELECT
    CAST(s.queryid AS text) AS statement_id,
    '' AS plan_id,
    '' AS routine,
    CAST(NULL AS float8) AS age_s,
    false AS forced,
    CAST(sum(s.calls) AS bigint) AS calls,
    CAST(sum(s.shared_blks_hit + s.shared_blks_read) AS float8) AS reads,
    CAST(sum(s.total_exec_time) / 1000 AS float8) AS spent_s,
    CAST(0 AS bigint) AS calls_before,
    CAST(0 AS float8) AS reads_before,
    CAST(NULL AS float8) AS spent_before_s,
    left(min(s.query), CAST(:chars AS integer)) AS statement
FROM {counts}(true) AS s
WHERE s.dbid = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())
    AND s.query NOT LIKE '/* qmon %'
    AND (
        strpos(lower(s.query), lower(CAST(:name AS text))) > 0
            AND s.query ~* '\m(delete\s+from|update|for\s+(no\s+key\s+)?update)\M'
        OR EXISTS (
            SELECT FROM unnest(CAST(:pops AS text[])) AS r(name) WHERE strpos(lower(s.query), lower(r.name)) > 0
        )
    )
GROUP BY s.queryid
ORDER BY sum(s.calls) DESC, s.queryid
LIMIT CAST(:limit AS integer)
