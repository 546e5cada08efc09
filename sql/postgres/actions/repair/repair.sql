-- What is left when the ring has no room: the design's own repair, which sets the pop sequence back before the oldest
-- orphan, so that consumers come by again.
-- {repair}    function of the design
-- :min_age_s  only slots that have not moved for so many seconds
-- :limit      so many orphans and so many holes at most
-- > number    the number
-- > was       orphan or hole
-- > became    the new number of an orphan; its own where consumers come by again
SELECT r.number, r.was, r.became
FROM {repair}(CAST(:min_age_s AS double precision), 0, CAST(:limit AS int)) AS r
