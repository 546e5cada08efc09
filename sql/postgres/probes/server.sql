-- The server and the watched database as a whole, from counters and the clock; reads no table.
-- > now_at         server clock, seconds since the epoch
-- > started_at     when the server started, seconds since the epoch: a later value means a restart
-- > stats_reset_at when this database's counters were last reset, NULL if never
-- > in_recovery    true on a standby
-- > replay_paused  true if the replay of the primary's log was paused
-- > behind_s       seconds since the commit of the last replayed transaction, 0 if everything received was replayed;
--                  NULL on a primary, and if nothing was replayed since the start
-- > sessions       sessions connected to this database, without qmon's own
-- > sessions_used  sessions of programs in all databases, each of which takes a connection; NULL if our role sees only its own
-- > sessions_limit connections that programs may have in total: max_connections without those reserved for administrators
-- > pollers        sessions of qmons that poll this database, including ours; every role can see application names
-- > commits        transactions committed since the reset
-- > rollbacks      transactions rolled back since the reset
-- > deadlocks      deadlocks since the reset
-- > sees_sessions  false if our role sees only its own sessions
-- > untracked      sessions of programs in which track_activities is off, as far as our role may see them
-- > counts         false if track_counts is off for this database or server: the counters of tables do not change
-- > role           our role, quoted, for the GRANT that would help
SELECT
    CAST(extract(epoch FROM clock_timestamp()) AS float8) AS now_at,
    CAST(extract(epoch FROM pg_postmaster_start_time()) AS float8) AS started_at,
    CAST(extract(epoch FROM pg_stat_get_db_stat_reset_time(d.oid)) AS float8) AS stats_reset_at,
    pg_is_in_recovery() AS in_recovery,
    CASE WHEN pg_is_in_recovery() THEN pg_is_wal_replay_paused() ELSE false END AS replay_paused,
    CASE WHEN pg_is_in_recovery() THEN
        CASE
            WHEN pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn()
                AND EXISTS (SELECT FROM pg_stat_get_wal_receiver() AS r WHERE r.pid IS NOT NULL) THEN 0
            ELSE CAST(greatest(0, extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp())) AS float8)
        END
    END AS behind_s,
    s.sessions,
    CASE WHEN pg_has_role('pg_read_all_stats', 'USAGE') THEN s.used END AS sessions_used,
    CAST(current_setting('max_connections') AS int) - CAST(current_setting('superuser_reserved_connections') AS int)
        - CAST(coalesce(current_setting('reserved_connections', true), '0') AS int) AS sessions_limit,
    s.pollers,
    pg_stat_get_db_xact_commit(d.oid) AS commits,
    pg_stat_get_db_xact_rollback(d.oid) AS rollbacks,
    pg_stat_get_db_deadlocks(d.oid) AS deadlocks,
    pg_has_role('pg_read_all_stats', 'USAGE') AS sees_sessions,
    s.untracked,
    -- A value that was set for our role or session does not apply to other sessions.
    CASE
        WHEN CAST(current_setting('track_counts') AS boolean) THEN true
        ELSE (
            SELECT g.source IN ('user', 'database user', 'client', 'session')
            FROM pg_settings AS g
            WHERE g.name = 'track_counts'
        )
    END AS counts,
    CAST(quote_ident(current_user) AS text) AS role
FROM pg_database AS d
CROSS JOIN LATERAL (
    SELECT
        CAST(count(*) FILTER (
            WHERE a.datid = d.oid AND coalesce(a.application_name, '') NOT LIKE 'qmon %'
        ) AS int) AS sessions,
        CAST(count(*) FILTER (WHERE a.backend_type = 'client backend') AS int) AS used,
        CAST(count(*) FILTER (WHERE a.datid = d.oid AND a.application_name = 'qmon poll') AS int) AS pollers,
        CAST(count(*) FILTER (
            WHERE a.datid = d.oid
                AND a.state = 'disabled'
                AND a.backend_type IN ('client backend', 'parallel worker')
                AND coalesce(a.application_name, '') NOT LIKE 'qmon %'
        ) AS int) AS untracked
    FROM pg_stat_get_activity(NULL) AS a
) AS s
WHERE d.datname = current_database()
