-- The number of slots of a ring: one more than the greatest slot, found by the index on the slot.
-- {table}  the ring's table
-- {slot}   its slot column
-- > slots  the number of slots; NULL if it is empty
SELECT CAST(MAX(t.{slot}) + 1 AS bigint) AS slots FROM {table} AS t
