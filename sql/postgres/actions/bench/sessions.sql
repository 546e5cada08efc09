-- How many sessions of the load are still connected.
-- :prefix    what their application names begin with
-- > sessions how many
SELECT CAST(count(*) AS integer) AS sessions
FROM pg_stat_get_activity(NULL) AS a
WHERE starts_with(a.application_name, :prefix)
