-- The position of a table that numbers are taken from: each push (or pop) takes a number.
-- {sequence} the table
-- > moved    the last number taken; NULL if we may not see it
SELECT CONVERT(bigint, IDENT_CURRENT({sequence!literal})) AS moved
