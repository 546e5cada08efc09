-- Ends the remaining sessions of the load.
-- :prefix prefix of their application names
-- > ended number of sessions that were asked to end
SELECT CAST(count(*) FILTER (WHERE pg_terminate_backend(a.pid)) AS integer) AS ended
FROM pg_stat_get_activity(NULL) AS a
WHERE starts_with(a.application_name, :prefix)
    AND a.pid <> pg_backend_pid()
