-- A session of the workload: plans as an application has them.
-- > application what it is called among the applications
-- > plans       the mode of plans that is set
SELECT current_setting('application_name') AS application, set_config('plan_cache_mode', 'auto', false) AS plans
