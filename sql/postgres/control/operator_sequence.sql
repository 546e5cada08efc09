-- Lets the acting role take numbers from a sequence and set it back, to repair a ring.
-- {sequence}  the sequence
GRANT USAGE, UPDATE ON SEQUENCE {sequence} TO qmon_operator
