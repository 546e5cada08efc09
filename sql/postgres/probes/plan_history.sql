-- Whether pg_stat_statements counts the reads of statements, and whether our role sees the statements of other roles.
-- pg_stat_statements does not distinguish plans.
-- > read_at server clock, seconds since the epoch
-- > kept    it can be read
-- > why     the reason why it cannot, otherwise empty
-- > home    the schema that it is in; empty: it is not installed here
SELECT
    CAST(extract(epoch FROM clock_timestamp()) AS float8) AS read_at,
    w.why = '' AS kept,
    w.why,
    w.home
FROM (
    SELECT
        CASE
            WHEN e.oid IS NULL THEN 'pg_stat_statements is not installed in this database'
            WHEN current_setting('pg_stat_statements.max', true) IS NULL
                THEN 'pg_stat_statements is not in shared_preload_libraries'
            WHEN NOT pg_has_role('pg_read_all_stats', 'USAGE')
                THEN 'pg_stat_statements shows the statements of others only with pg_read_all_stats'
            ELSE ''
        END AS why,
        coalesce(CAST(n.nspname AS text), '') AS home
    FROM (SELECT 1) AS o
    LEFT JOIN pg_extension AS e ON e.extname = 'pg_stat_statements'
    LEFT JOIN pg_namespace AS n ON n.oid = e.extnamespace
) AS w
