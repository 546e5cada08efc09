-- Lets the watching role see the sessions and statements of other roles. pg_monitor would have more rights than needed.
GRANT pg_read_all_stats TO qmon_monitor
