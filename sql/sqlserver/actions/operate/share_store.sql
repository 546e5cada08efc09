-- Lets the other operators undo what is kept in this table.
-- {store}  the table
GRANT SELECT, INSERT, UPDATE, DELETE ON OBJECT::{store} TO qmon_operator
