-- The server's clock, and the values that checks of owner sessions need.
-- > clock        the clock, exact, as text
-- > epoch        the clock in seconds since the epoch
-- > sees_others  true: our role can see other sessions
-- > up_since     when sessions could begin, in seconds since the epoch: after a start, a crash or a failover
-- > pooled       a pooler hands sessions on: one of them has just been reset, or says so in its name
SELECT CAST(clock_timestamp() AS text)                                                     AS clock,
       CAST(extract(epoch FROM clock_timestamp()) AS float8)                               AS epoch,
       pg_catalog.pg_has_role('pg_read_all_stats', 'USAGE')                                AS sees_others,
       CAST(extract(epoch FROM greatest(pg_catalog.pg_postmaster_start_time(), (
           -- These restart when a backend has crashed; the last two start when a standby is promoted.
           SELECT max(a.backend_start)
           FROM pg_catalog.pg_stat_activity AS a
           WHERE a.backend_type IN ('checkpointer', 'walwriter', 'autovacuum launcher')
       ))) AS float8)                                                                      AS up_since,
       EXISTS (
           SELECT FROM pg_catalog.pg_stat_activity AS a
           WHERE a.backend_type = 'client backend'
             AND a.datname = current_database()
             AND a.pid <> pg_catalog.pg_backend_pid()
             AND (a.application_name ~* 'pgbouncer|odyssey|pgcat|pgpool|supavisor'
                  OR a.query ~* '^\s*(discard\s+all|reset\s+all)\s*;?\s*$')
       )                                                                                   AS pooled
