-- Lets the acting role record and end pauses, and set the gates of tables that qmon has not installed.
GRANT EXECUTE ON OBJECT::qmon.record_pause TO qmon_operator;
GRANT EXECUTE ON OBJECT::qmon.lift_pauses TO qmon_operator;
GRANT INSERT, UPDATE, DELETE ON OBJECT::qmon.gates TO qmon_operator
