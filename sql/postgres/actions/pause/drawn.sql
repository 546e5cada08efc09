-- The position of a sequence: each number is drawn by a push (or, from a ring's pop sequence, by a pop). Read as a
-- table, because the lock of nextval shows which sessions have drawn.
-- {sequence} the sequence
-- > moved    the last number drawn
SELECT CASE WHEN s.is_called THEN s.last_value ELSE 0 END AS moved
FROM {sequence} AS s
