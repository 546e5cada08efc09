-- Lets the acting role call a routine of the queue's design.
-- {object}  the procedure
GRANT EXECUTE ON OBJECT::{object} TO qmon_operator
