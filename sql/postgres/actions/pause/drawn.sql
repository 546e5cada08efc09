-- The position of a sequence: each push takes a number (each pop from a ring's pop sequence). Read as a table, because
-- the lock of nextval shows which sessions have taken a number.
-- {sequence} the sequence
-- > moved    the last number taken
SELECT CASE WHEN s.is_called THEN s.last_value ELSE 0 END AS moved
FROM {sequence} AS s
