-- Lets the acting role save rows for an undo, in tables that a procedure creates, undo operations from before there was
-- such a role, and put rows back under their old numbers.
GRANT SELECT, INSERT, UPDATE, DELETE ON SCHEMA::qmon_store TO qmon_operator;
GRANT EXECUTE ON OBJECT::qmon.make_store TO qmon_operator;
GRANT EXECUTE ON OBJECT::qmon.put_back TO qmon_operator
