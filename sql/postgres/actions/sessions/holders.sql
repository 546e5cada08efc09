-- Open transactions that have written to a table, or have tried to, the oldest first.
-- {table}           the table
-- > session         its process id; 0: a prepared transaction
-- > started_us      when the session began, microseconds since the epoch
-- > transaction_us  when its transaction began, the same
-- > transaction_s   seconds since
-- > login           its login
-- > application     its application name
-- > state           active, idle in transaction …
-- > xids            ids of its transaction and its open savepoints, separated by commas
-- > rows            NULL: held rows are asked for apart
-- > log_bytes       NULL: the server does not say how much it has written
SELECT
    coalesce(h.pid, 0) AS session,
    CAST(extract(epoch FROM a.backend_start) * 1000000 AS bigint) AS started_us,
    CAST(extract(epoch FROM a.xact_start) * 1000000 AS bigint) AS transaction_us,
    CAST(extract(epoch FROM clock_timestamp() - a.xact_start) AS float8) AS transaction_s,
    coalesce((SELECT CAST(r.rolname AS text) FROM pg_roles AS r WHERE r.oid = a.usesysid), '') AS login,
    coalesce(a.application_name, '') AS application,
    coalesce(a.state, '') AS state,
    coalesce(
        (
            SELECT string_agg(CAST(x.transactionid AS text), ',')
            FROM pg_locks AS x
            WHERE x.virtualtransaction = h.virtualtransaction
                AND x.locktype = 'transactionid'
                AND x.mode = 'ExclusiveLock'
                AND x.granted
        ),
        ''
    ) AS xids,
    CAST(NULL AS int) AS rows,
    CAST(NULL AS bigint) AS log_bytes
FROM (
    SELECT DISTINCT l.pid, l.virtualtransaction
    FROM pg_locks AS l
    WHERE l.locktype = 'relation'
        AND l.relation = CAST({table!literal} AS regclass)
        AND l.database = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())
        AND l.mode = 'RowExclusiveLock'
        AND l.granted
        AND l.pid IS DISTINCT FROM pg_backend_pid()
) AS h
LEFT JOIN LATERAL pg_stat_get_activity(h.pid) AS a ON a.pid = h.pid
ORDER BY a.xact_start NULLS FIRST
LIMIT 200
