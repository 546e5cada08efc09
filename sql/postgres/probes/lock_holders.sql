-- Sessions that block even readers of some tables: the session with an exclusive lock on a table, or on a partition or
-- an index of the table. If there is none, the first session that waits for such a lock. Reads the catalog and the lock
-- table, and waits for no lock.
-- :tables         table ids as an array, {1,2}
-- > table_id      one of these
-- > session       its process id; 0 is a prepared transaction, which has none
-- > gid           name of the prepared transaction, otherwise empty
-- > waits         true: it still waits for the lock, and readers wait behind it
-- > login         its login
-- > application   its application name
-- > since_at      when its transaction began, or was prepared, seconds since the epoch; NULL if our role may not see it
-- > statement     its last statement, shortened
WITH locks AS MATERIALIZED (
    SELECT l.pid, l.relation, l.locktype, l.mode, l.granted, l.transactionid, l.virtualtransaction
    FROM pg_locks AS l
    WHERE l.locktype = 'transactionid'
        OR (l.database = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())
            AND l.locktype = 'relation' AND l.mode = 'AccessExclusiveLock')
)
SELECT DISTINCT ON (t.id)
    CAST(t.id AS bigint) AS table_id,
    coalesce(a.leader_pid, l.pid, 0) AS session,
    coalesce(x.gid, '') AS gid,
    NOT l.granted AS waits,
    coalesce(CAST(u.rolname AS text), CAST(x.owner AS text), '') AS login,
    coalesce(a.application_name, '') AS application,
    CAST(extract(epoch FROM coalesce(a.xact_start, x.prepared)) AS float8) AS since_at,
    coalesce(left(a.query, 200), '') AS statement
FROM locks AS l
LEFT JOIN pg_index AS i ON i.indexrelid = l.relation
JOIN unnest(CAST(:tables AS oid[])) AS t(id)
    ON t.id IN (coalesce(i.indrelid, l.relation), pg_partition_root(coalesce(i.indrelid, l.relation)))
LEFT JOIN pg_stat_get_activity(NULL) AS a ON a.pid = l.pid
LEFT JOIN pg_roles AS u ON u.oid = a.usesysid
LEFT JOIN locks AS own
    ON l.pid IS NULL AND own.pid IS NULL AND own.locktype = 'transactionid'
    AND own.virtualtransaction = l.virtualtransaction
LEFT JOIN pg_prepared_xacts AS x ON x.transaction = own.transactionid
WHERE l.locktype = 'relation'
ORDER BY t.id, l.granted DESC, coalesce(a.xact_start, x.prepared) NULLS LAST
