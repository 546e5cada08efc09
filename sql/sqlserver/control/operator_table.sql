-- Lets the acting role requeue, move and delete messages.
-- {table}  the table
GRANT INSERT, UPDATE, DELETE ON OBJECT::{table} TO qmon_operator
