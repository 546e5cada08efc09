-- Where a sequence stands: each number is drawn by a push (or, a ring's pop sequence, by a pop). Read as a table, since
-- nextval's lock is what tells who has drawn.
-- {sequence} the sequence
-- > moved    the last number drawn
SELECT CASE WHEN s.is_called THEN s.last_value ELSE 0 END AS moved
FROM {sequence} AS s
