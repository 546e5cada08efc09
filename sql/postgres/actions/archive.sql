-- Moves some done messages to the archive: the design's own routine, in a transaction of its own.
-- {archive}  function of the design
-- :limit     so many messages at most
-- > moved    how many it moved
SELECT a.moved
FROM {archive}(:limit) AS a(moved)
