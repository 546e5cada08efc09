-- Lets the watching role see what operators have done.
GRANT SELECT ON OBJECT::qmon.operations TO qmon_monitor;
GRANT SELECT ON OBJECT::qmon.stores TO qmon_monitor
