-- Lets the acting role write down what it does.
GRANT SELECT ON SCHEMA::qmon TO qmon_operator;
GRANT SELECT, INSERT, UPDATE ON OBJECT::qmon.operations TO qmon_operator
