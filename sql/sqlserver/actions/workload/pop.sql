-- Pop one message of a design that does not count attempts.
-- {pop}     procedure of the design
-- > id      its id
-- > payload the message
EXEC {pop}
