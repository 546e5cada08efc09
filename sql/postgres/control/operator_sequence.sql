-- Lets the acting role draw numbers, which requeueing a message of a ring needs.
-- {sequence}  the sequence
GRANT USAGE ON SEQUENCE {sequence} TO qmon_operator
