-- The sessions of programs in this database, without qmon's own, with their identity and last statement. Values that
-- our role may not see are NULL or empty. The cost grows with the number of sessions, not of queues.
-- :limit        maximum number of sessions; those with the newest last statement first
-- :chars        maximum characters of a statement
-- > session     process id
-- > started_at  when it began, seconds since the epoch
-- > application its application name
-- > login       its login
-- > state       active, idle, idle in transaction …; empty if it is not shown to our role or track_activities is off in it
-- > begun_s     seconds since its last statement began
-- > quiet_s     seconds since its state last changed: how long it has been idle or active
-- > wait_kind   class of its wait (Lock, Client, Timeout …), empty if it runs
-- > statement   its last statement, shortened
-- > host        its client's host or address; empty if it is not shown to our role, or if it uses a local socket
SELECT
    a.pid AS session,
    CAST(extract(epoch FROM a.backend_start) AS float8) AS started_at,
    coalesce(a.application_name, '') AS application,
    coalesce(CAST(pg_get_userbyid(a.usesysid) AS text), '') AS login,
    CASE WHEN a.state = 'disabled' OR a.backend_start IS NULL THEN '' ELSE coalesce(a.state, 'starting') END AS state,
    CAST(extract(epoch FROM clock_timestamp() - a.query_start) AS float8) AS begun_s,
    CAST(extract(epoch FROM clock_timestamp() - a.state_change) AS float8) AS quiet_s,
    coalesce(a.wait_event_type, '') AS wait_kind,
    coalesce(left(a.query, CAST(:chars AS int)), '') AS statement,
    coalesce(a.client_hostname, host(a.client_addr), '') AS host
FROM pg_stat_get_activity(NULL) AS a
WHERE a.datid = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())
    AND a.pid <> pg_backend_pid()
    AND coalesce(a.backend_type, 'client backend') = 'client backend'
    AND NOT coalesce(a.application_name LIKE 'qmon %' AND a.application_name <> 'qmon load', false)
ORDER BY a.query_start DESC NULLS LAST
LIMIT CAST(:limit AS int)
