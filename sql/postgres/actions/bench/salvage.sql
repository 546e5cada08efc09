-- What a slice had committed before it failed, of the loops that lock many rows or wait for locks: a deadlock ends the
-- slice, and the counts it would have returned are gone, but not this setting, which goes back to the last commit.
-- > kept the moment the slice was to end, its messages and its carry, with spaces between; empty where there is nothing
SELECT coalesce(current_setting('qmon.bench', true), '') AS kept
