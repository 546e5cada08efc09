-- Lets the acting role pause a queue's pushers and poppers.
-- {object}  the sequence that holds the end of a pause
GRANT SELECT, UPDATE ON SEQUENCE {object} TO qmon_operator
