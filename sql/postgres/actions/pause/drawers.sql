-- Other sessions that have taken a number from a sequence in a transaction that is still open.
-- {sequence}     the sequence
-- > session      its process id; 0: a prepared transaction
-- > application  its application name
-- > login        its role
SELECT DISTINCT coalesce(l.pid, 0)           AS session,
       coalesce(a.application_name, '')      AS application,
       coalesce(CAST(a.usename AS text), '') AS login
FROM pg_catalog.pg_locks AS l
LEFT JOIN pg_catalog.pg_stat_activity AS a ON a.pid = l.pid
WHERE l.locktype = 'relation'
  AND l.relation = {sequence!literal}::regclass
  AND l.database = (SELECT d.oid FROM pg_catalog.pg_database AS d WHERE d.datname = current_database())
  AND l.mode = 'RowExclusiveLock'
  AND l.pid IS DISTINCT FROM pg_backend_pid()
ORDER BY 1
LIMIT 20
