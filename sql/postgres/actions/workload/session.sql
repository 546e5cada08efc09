-- A session of the workload: plans as an application has them.
-- :local       true: for one transaction only
-- > application its application name
-- > plans       the mode of plans that is set
SELECT current_setting('application_name') AS application, set_config('plan_cache_mode', 'auto', CAST(:local AS boolean)) AS plans
