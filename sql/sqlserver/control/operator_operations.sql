-- Lets the acting role write down what it does, and keep what an undo needs.
GRANT CREATE TABLE TO qmon_operator;
GRANT ALTER, SELECT ON SCHEMA::qmon TO qmon_operator;
GRANT SELECT, INSERT, UPDATE ON OBJECT::qmon.operations TO qmon_operator;
GRANT SELECT, INSERT ON OBJECT::qmon.stores TO qmon_operator
