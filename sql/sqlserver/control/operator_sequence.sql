-- Lets the acting role take numbers from a sequence, to requeue a message of a ring.
-- {sequence}  the sequence
GRANT UPDATE ON OBJECT::{sequence} TO qmon_operator
