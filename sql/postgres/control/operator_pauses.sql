-- Lets the acting role write down pauses, and lift them.
GRANT SELECT, INSERT, UPDATE ON qmon.pauses TO qmon_operator
