-- Lets the watching role see where a queue's sequence stands.
-- {sequence}  the sequence
GRANT SELECT ON SEQUENCE {sequence} TO qmon_monitor
