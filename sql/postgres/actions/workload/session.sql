-- A session of the workload: what it is called among the applications, and plans as an application has them.
-- :application  the application name
-- > application the name that is set
SELECT s.application
FROM (
    SELECT
        set_config('application_name', :application, false) AS application,
        set_config('plan_cache_mode', 'auto', false) AS plans
    OFFSET 0
) AS s
