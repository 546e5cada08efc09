-- Committed counts of a slice that failed, for the loops that lock many rows or wait for locks. A deadlock ends the
-- slice, and the result is lost, but this setting keeps the counts of the last commit.
-- > kept the moment the slice was to end, its messages and its carry, with spaces between; empty if there is nothing
SELECT coalesce(current_setting('qmon.bench', true), '') AS kept
