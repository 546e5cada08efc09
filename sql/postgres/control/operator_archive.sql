-- Lets the acting role archive a queue's done messages.
-- {object}  the archive
GRANT INSERT ON TABLE {object} TO qmon_operator
