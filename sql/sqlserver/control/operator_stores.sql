-- Lets the acting role keep what an undo needs, in tables that a procedure makes for it, undo what was done before there was
-- such a role, and put rows back under the number that they had.
GRANT SELECT, INSERT, UPDATE, DELETE ON SCHEMA::qmon_store TO qmon_operator;
GRANT EXECUTE ON OBJECT::qmon.make_store TO qmon_operator;
GRANT EXECUTE ON OBJECT::qmon.put_back TO qmon_operator
