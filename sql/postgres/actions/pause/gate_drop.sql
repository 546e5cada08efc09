-- Takes a gate off a table, for which PostgreSQL takes ACCESS EXCLUSIVE on it.
-- {table}   the table
-- {trigger} the trigger
DROP TRIGGER {trigger} ON {table}
