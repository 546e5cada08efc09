-- Lets the acting role record and end pauses.
GRANT SELECT, INSERT (queue, about, side, switch, until, by, reason, way) ON qmon.pauses TO qmon_operator;
GRANT EXECUTE ON FUNCTION qmon.lift_pauses(text, text, text) TO qmon_operator
