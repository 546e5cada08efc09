-- Fills a hole: skips a number that will never be pushed. The design's own routine first proves this.
-- {fill_hole}  function of the design
-- :number      the number
-- :wait_ms     milliseconds to wait for the proof
-- > became     the number, if it was skipped; NULL if it is not a hole, or not proven yet
SELECT CASE WHEN {fill_hole}(CAST(:number AS bigint), CAST(:wait_ms AS int)) THEN CAST(:number AS bigint) END AS became
