-- Lets the acting role write down pauses, lift them, and set the gates of tables that qmon has not installed.
GRANT SELECT, INSERT, UPDATE ON OBJECT::qmon.pauses TO qmon_operator;
GRANT INSERT, UPDATE, DELETE ON OBJECT::qmon.gates TO qmon_operator
