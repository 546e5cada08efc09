-- Running transactions that have written, so that a row's xmax identifies its holder (queues that delete on pop).
-- Subtransactions have their own lock, so they are found, too.
-- > xid           transaction id as text
-- > session       its session; 0 is a prepared transaction, which has none
-- > transaction_s seconds since its transaction began, or was prepared; 0 if it has just ended; NULL if our role may not
--                 see it, or if the session does not report its activity
-- > state         active, idle in transaction …; prepared
-- > application   its application name; of a prepared transaction its name
SELECT
    CAST(l.transactionid AS text) AS xid,
    coalesce(l.pid, 0) AS session,
    -- Locks are read before sessions. A session that is gone, or that shows a state but no transaction, has ended its own.
    CASE
        WHEN coalesce(a.xact_start, x.prepared) IS NOT NULL
            THEN CAST(extract(epoch FROM clock_timestamp() - coalesce(a.xact_start, x.prepared)) AS float8)
        WHEN a.pid IS NULL OR a.state <> 'disabled' THEN 0
    END AS transaction_s,
    CASE WHEN x.gid IS NOT NULL THEN 'prepared' ELSE coalesce(a.state, '') END AS state,
    coalesce(x.gid, a.application_name, '') AS application
FROM pg_locks AS l
LEFT JOIN LATERAL pg_stat_get_activity(coalesce(l.pid, 0)) AS a ON a.pid = l.pid
LEFT JOIN pg_prepared_xacts AS x ON l.pid IS NULL AND x.transaction = l.transactionid
WHERE l.locktype = 'transactionid'
    AND l.granted
    AND (l.pid IS NOT NULL OR x.gid IS NOT NULL)
LIMIT 1000
