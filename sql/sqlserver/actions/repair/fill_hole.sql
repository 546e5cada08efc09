-- Fills a hole: skips a number that will never be pushed. The design's own routine first proves this.
-- {fill_hole}  procedure of the design
-- :number      the number
-- :wait_ms     milliseconds to wait for the proof
-- > became     the number, if it was skipped; NULL if it is not a hole, or not proven yet
DECLARE @number bigint, @filled int;
SET @number = :number;
EXEC {fill_hole} @number = @number, @wait_ms = :wait_ms, @filled = @filled OUTPUT, @quiet = 1;
SELECT CASE @filled WHEN 1 THEN @number END AS became;
