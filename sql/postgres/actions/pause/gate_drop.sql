-- Takes a gate off a table, for which PostgreSQL takes ACCESS EXCLUSIVE on it.
-- {table} the table
DROP TRIGGER qmon_gate ON {table}
