-- Lets the watching role read the pauses.
GRANT SELECT ON OBJECT::qmon.pauses TO qmon_monitor
