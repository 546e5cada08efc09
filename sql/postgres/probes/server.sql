-- The server and the watched database as a whole, from counters and the clock; reads no table.
-- > now_at         server clock, seconds since the epoch
-- > started_at     when the server started, seconds since the epoch: a later value means a restart
-- > stats_reset_at when this database's counters were last reset, NULL if never
-- > in_recovery    true on a standby
-- > sessions       sessions connected to this database, without qmon's own
-- > commits        transactions committed since the reset
-- > rollbacks      transactions rolled back since the reset
-- > deadlocks      deadlocks since the reset
-- > sees_sessions  false where our role sees no session but its own
-- > role           our role, quoted, for the GRANT that would help
SELECT
    CAST(extract(epoch FROM clock_timestamp()) AS float8) AS now_at,
    CAST(extract(epoch FROM pg_postmaster_start_time()) AS float8) AS started_at,
    CAST(extract(epoch FROM pg_stat_get_db_stat_reset_time(d.oid)) AS float8) AS stats_reset_at,
    pg_is_in_recovery() AS in_recovery,
    (
        SELECT CAST(count(*) AS int)
        FROM pg_stat_get_activity(NULL) AS a
        WHERE a.datid = d.oid
            AND coalesce(a.application_name, '') NOT LIKE 'qmon %'
    ) AS sessions,
    pg_stat_get_db_xact_commit(d.oid) AS commits,
    pg_stat_get_db_xact_rollback(d.oid) AS rollbacks,
    pg_stat_get_db_deadlocks(d.oid) AS deadlocks,
    pg_has_role('pg_read_all_stats', 'USAGE') AS sees_sessions,
    CAST(quote_ident(current_user) AS text) AS role
FROM pg_database AS d
WHERE d.datname = current_database()
