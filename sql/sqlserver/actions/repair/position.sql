-- The last number taken from the numbers of a ring; 0 before the first, NULL if we may not see their table.
-- {sequence}  the table of the numbers
-- > position  that number
SELECT CAST(IDENT_CURRENT({sequence!literal}) AS bigint) AS position
