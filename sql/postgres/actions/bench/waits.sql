-- What the sessions of the load are doing at this moment.
-- :prefix    what their application names begin with
-- > kind     class of the wait; CPU where the session runs or could run
-- > event    name of the wait; empty where there is none
-- > sessions how many sessions
SELECT
    coalesce(a.wait_event_type, 'CPU') AS kind,
    coalesce(a.wait_event, '') AS event,
    CAST(count(*) AS integer) AS sessions
FROM pg_stat_get_activity(NULL) AS a
WHERE a.state = 'active'
    AND starts_with(a.application_name, :prefix)
GROUP BY 1, 2
