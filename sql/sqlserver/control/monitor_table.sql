-- Lets the watching role read a queue's table.
-- {table}  the table
GRANT SELECT ON OBJECT::{table} TO qmon_monitor
