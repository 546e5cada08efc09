-- Lets the acting role draw numbers and set a sequence back, which repairing a ring needs.
-- {sequence}  the sequence
GRANT USAGE, UPDATE ON SEQUENCE {sequence} TO qmon_operator
