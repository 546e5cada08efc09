-- Removes the gate of a table. PostgreSQL takes ACCESS EXCLUSIVE on the table.
-- {table}   the table
-- {trigger} the trigger
DROP TRIGGER {trigger} ON {table}
