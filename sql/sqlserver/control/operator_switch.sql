-- Lets the acting role pause a queue's pushers and poppers.
-- {object}  the table that holds the end of a pause
GRANT SELECT, UPDATE ON OBJECT::{object} TO qmon_operator
