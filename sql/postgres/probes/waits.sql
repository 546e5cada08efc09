-- Current waits of active sessions. Parallel workers count separately. qmon's own sessions are left out. If
-- track_activities is off in a session, only the wait is visible: the session counts unless it waits for the client's
-- next statement.
-- > kind     class of the wait (Lock, LWLock, IO, Client …); CPU if the session runs
-- > event    name of the wait; empty if the session runs
-- > sessions number of sessions
SELECT
    coalesce(a.wait_event_type, 'CPU') AS kind,
    coalesce(a.wait_event, '') AS event,
    CAST(count(*) AS int) AS sessions
FROM pg_stat_get_activity(NULL) AS a
WHERE (a.state = 'active' OR (a.state = 'disabled' AND a.wait_event IS DISTINCT FROM 'ClientRead'))
    AND a.backend_type IN ('client backend', 'parallel worker')
    AND a.application_name NOT LIKE 'qmon %'
    AND a.pid <> pg_backend_pid()
GROUP BY 1, 2
ORDER BY 3 DESC, 1, 2
LIMIT 50
