-- The position of a table that numbers are drawn from: each number is drawn by a push (or a pop).
-- {sequence} the table
-- > moved    the last number drawn; NULL if we may not see it
SELECT CONVERT(bigint, IDENT_CURRENT({sequence!literal})) AS moved
