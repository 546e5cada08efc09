-- Lets the acting role pause a queue's producers and consumers.
-- {object}  the table that holds the end of a pause
GRANT SELECT, UPDATE ON OBJECT::{object} TO qmon_operator
