-- Lets the watching role read the registry of installed queues.
GRANT USAGE ON SCHEMA qmon TO qmon_monitor;
GRANT SELECT ON qmon.queues TO qmon_monitor
