-- Lets the watching role read the position of a queue's sequence.
-- {sequence}  the sequence
GRANT VIEW DEFINITION ON OBJECT::{sequence} TO qmon_monitor
