-- Lets the watching role see the sessions and statements of others; pg_monitor would be more than is needed.
GRANT pg_read_all_stats TO qmon_monitor
