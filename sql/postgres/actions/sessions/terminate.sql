-- Ends a session that is idle in a transaction, if it is still the session and the transaction that the plan showed.
-- :session         its process id
-- :started_us      when it began, microseconds since the epoch
-- :transaction_us  when its transaction began, the same; NULL if there is none
-- > signalled      true if the server has passed it on; no row if another session has the number now
SELECT pg_terminate_backend(a.pid) AS signalled
FROM pg_stat_get_activity(CAST(:session AS int)) AS a
WHERE CAST(extract(epoch FROM a.backend_start) * 1000000 AS bigint) = CAST(:started_us AS bigint)
    AND CAST(extract(epoch FROM a.xact_start) * 1000000 AS bigint) IS NOT DISTINCT FROM CAST(:transaction_us AS bigint)
    AND a.state LIKE 'idle%'
    AND a.pid <> pg_backend_pid()
