-- Lets the acting role draw numbers, which requeueing a message of a ring needs.
-- {sequence}  the sequence
GRANT UPDATE ON OBJECT::{sequence} TO qmon_operator
