-- Open transactions that have taken a number from a ring's sequences: before such a transaction ends, none of its
-- numbers can be proven to be a hole or an orphan. Taking a number locks the sequence until the transaction ends; see
-- action/repair/drawing.
-- :sequences       ids of the sequences as an array
-- > sequence_id    the sequence
-- > session        process id; 0: a prepared transaction
-- > application    its application name
-- > state          active, idle in transaction …
-- > transaction_s  seconds since its transaction began; NULL if that is not visible
SELECT
    CAST(l.relation AS bigint) AS sequence_id,
    coalesce(l.pid, 0) AS session,
    coalesce(a.application_name, '') AS application,
    coalesce(a.state, '') AS state,
    CAST(extract(epoch FROM clock_timestamp() - a.xact_start) AS float8) AS transaction_s
FROM pg_locks AS l
LEFT JOIN LATERAL pg_stat_get_activity(l.pid) AS a ON a.pid = l.pid
WHERE l.locktype = 'relation'
    AND l.relation = ANY (CAST(:sequences AS oid[]))
    AND l.database = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())
    AND l.mode = 'RowExclusiveLock'
    AND l.pid IS DISTINCT FROM pg_backend_pid()
ORDER BY transaction_s DESC NULLS FIRST
LIMIT 200
