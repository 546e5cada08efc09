-- Ends what is left of the load's sessions.
-- :prefix what their application names begin with
-- > ended how many were told to end
SELECT CAST(count(*) FILTER (WHERE pg_terminate_backend(a.pid)) AS integer) AS ended
FROM pg_stat_get_activity(NULL) AS a
WHERE starts_with(a.application_name, :prefix)
    AND a.pid <> pg_backend_pid()
