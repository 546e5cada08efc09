-- The position of a sequence: each number is drawn by a push (or, from a ring's pop sequence, by a pop).
-- {sequence} the sequence
-- > moved    the last number drawn; NULL if we may not see it
SELECT (
    SELECT CONVERT(bigint, q.current_value)
    FROM sys.sequences AS q
    WHERE q.object_id = OBJECT_ID({sequence!literal})
) AS moved
