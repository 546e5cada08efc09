-- Moves some done messages to the archive: the design's own routine, in a transaction of its own.
-- {archive}  procedure of the design
-- :limit     so many messages at most
-- > moved    how many it moved
EXEC {archive} @limit = :limit
