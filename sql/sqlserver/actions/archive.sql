-- Moves some done messages to the archive, with the design's own routine, in a separate transaction.
-- {archive}  procedure of the design
-- :limit     maximum number of messages
-- > moved    number of moved rows
EXEC {archive} @limit = :limit
