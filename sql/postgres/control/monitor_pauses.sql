-- Lets the watching role read the pauses.
GRANT SELECT ON qmon.pauses TO qmon_monitor
