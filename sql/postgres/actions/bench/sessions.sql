-- The number of sessions of the load that are still connected.
-- :prefix    prefix of their application names
-- > sessions number
SELECT CAST(count(*) AS integer) AS sessions
FROM pg_stat_get_activity(NULL) AS a
WHERE starts_with(a.application_name, :prefix)
