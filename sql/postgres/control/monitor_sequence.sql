-- Lets the watching role read the position of a queue's sequence.
-- {sequence}  the sequence
GRANT SELECT ON SEQUENCE {sequence} TO qmon_monitor
