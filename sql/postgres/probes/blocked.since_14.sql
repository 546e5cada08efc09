-- Pairs of a session that waits for a lock in this database and a session that blocks it.
-- pg_blocking_pids takes the lock manager for itself for a moment, so it is asked for waiting sessions only.
-- > waiter                session that waits
-- > blocker               session that blocks it; 0 is a prepared transaction
-- > waiting_s             seconds it has waited for the lock
-- > event                 kind of lock it waits for
-- > waiter_application    application name of the waiter
-- > waiter_query          its statement, shortened
-- > blocker_application   application name of the blocker
-- > blocker_state         active, idle in transaction …
-- > blocker_transaction_s seconds since the blocker's transaction began
-- > blocker_query         its last statement, shortened
SELECT
    w.pid AS waiter,
    b.pid AS blocker,
    CAST(extract(epoch FROM clock_timestamp() - coalesce(l.since, w.query_start)) AS float8) AS waiting_s,
    coalesce(w.wait_event, '') AS event,
    coalesce(w.application_name, '') AS waiter_application,
    coalesce(left(w.query, 200), '') AS waiter_query,
    coalesce(h.application_name, '') AS blocker_application,
    coalesce(h.state, '') AS blocker_state,
    CAST(extract(epoch FROM clock_timestamp() - h.xact_start) AS float8) AS blocker_transaction_s,
    coalesce(left(h.query, 200), '') AS blocker_query
FROM (
    SELECT a.pid, a.query_start, a.wait_event, a.application_name, a.query
    FROM pg_stat_get_activity(NULL) AS a
    WHERE a.wait_event_type = 'Lock'
        AND a.datid = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())
    ORDER BY a.query_start
    LIMIT 200
) AS w
CROSS JOIN LATERAL (SELECT DISTINCT unnest(pg_blocking_pids(w.pid)) AS pid) AS b
LEFT JOIN LATERAL pg_stat_get_activity(nullif(b.pid, 0)) AS h ON h.pid = b.pid
LEFT JOIN (
    SELECT k.pid, min(k.waitstart) AS since FROM pg_locks AS k WHERE NOT k.granted GROUP BY k.pid
) AS l ON l.pid = w.pid
ORDER BY waiting_s DESC NULLS LAST, waiter, blocker
LIMIT 500
