-- Lets the watching role see where a queue's sequence stands.
-- {sequence}  the sequence
GRANT VIEW DEFINITION ON OBJECT::{sequence} TO qmon_monitor
