-- Current waits of the load's sessions.
-- :prefix    prefix of their application names
-- > kind     class of the wait; CPU if the session runs or could run
-- > event    name of the wait; empty if there is none
-- > sessions number of sessions
SELECT
    coalesce(a.wait_event_type, 'CPU') AS kind,
    coalesce(a.wait_event, '') AS event,
    CAST(count(*) AS integer) AS sessions
FROM pg_stat_get_activity(NULL) AS a
WHERE a.state = 'active'
    AND starts_with(a.application_name, :prefix)
GROUP BY 1, 2
