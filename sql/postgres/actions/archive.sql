-- Moves some done messages to the archive, with the design's own routine, in a separate transaction.
-- {archive}  function of the design
-- :limit     maximum number of messages
-- > moved    number of moved rows
SELECT a.moved
FROM {archive}(:limit) AS a(moved)
