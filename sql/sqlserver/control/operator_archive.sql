-- Lets the acting role read a queue's archive; its design's own routine writes it.
-- {object}  the archive
GRANT SELECT ON OBJECT::{object} TO qmon_operator
