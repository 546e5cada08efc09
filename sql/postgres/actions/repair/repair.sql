-- The last resort if the ring has no free slot: the design's own repair sets the pop sequence back before the oldest
-- orphan, so that consumers reach the orphan again.
-- {repair}    function of the design
-- :min_age_s  minimum seconds since a slot was last written
-- :limit      maximum number of orphans, and of holes
-- > number    the number
-- > was       orphan or hole
-- > became    the new number of an orphan; its own number if consumers will reach it again
SELECT r.number, r.was, r.became
FROM {repair}(CAST(:min_age_s AS double precision), 0, CAST(:limit AS int)) AS r
