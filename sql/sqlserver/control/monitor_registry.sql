-- Lets the watching role read the registry of installed queues.
GRANT SELECT ON OBJECT::qmon.queues TO qmon_monitor
