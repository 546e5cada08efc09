-- Lets the acting role pause a queue's producers and consumers.
-- {object}  the sequence that holds the end of a pause
GRANT SELECT, UPDATE ON SEQUENCE {object} TO qmon_operator
