-- Lets the watching role see who has paused whom.
GRANT SELECT ON qmon.pauses TO qmon_monitor
