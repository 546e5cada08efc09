-- Lets the acting role call a routine of the queue's design.
-- {object}  the function
GRANT EXECUTE ON FUNCTION {object} TO qmon_operator
