-- Moves some done messages to the archive: the design's own routine, in a transaction of its own.
-- {archive}  procedure of the design
-- :limit     maximum number of messages
-- > moved    number of moved rows
EXEC {archive} @limit = :limit
