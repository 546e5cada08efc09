-- Lets the acting role write down what it does, and keep what an undo needs.
GRANT USAGE, CREATE ON SCHEMA qmon TO qmon_operator;
GRANT SELECT, INSERT, UPDATE ON qmon.operations TO qmon_operator;
GRANT SELECT, INSERT ON qmon.stores TO qmon_operator
