-- Running transactions that have written, so that a row's xmax tells who holds it (queues that delete on pop).
-- Subtransactions hold a lock of their own, so they are found too.
-- > xid           transaction id as text
-- > session       its session
-- > transaction_s seconds since its transaction began; NULL where our role may not see it
-- > state         active, idle in transaction …
-- > application   its application name
SELECT
    CAST(l.transactionid AS text) AS xid,
    l.pid AS session,
    CAST(extract(epoch FROM clock_timestamp() - a.xact_start) AS float8) AS transaction_s,
    coalesce(a.state, '') AS state,
    coalesce(a.application_name, '') AS application
FROM pg_locks AS l
LEFT JOIN LATERAL pg_stat_get_activity(l.pid) AS a ON a.pid = l.pid
WHERE l.locktype = 'transactionid'
    AND l.granted
    AND l.pid IS NOT NULL
LIMIT 1000
