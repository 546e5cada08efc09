-- Lets the watching role see what operators have done.
GRANT SELECT ON qmon.operations, qmon.stores TO qmon_monitor
