-- The last number taken from a sequence of a ring; 0 before the first.
-- {sequence}  the sequence
-- > position  that number
SELECT CASE WHEN s.is_called THEN s.last_value ELSE 0 END AS position FROM {sequence} AS s
