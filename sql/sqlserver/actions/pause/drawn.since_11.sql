-- The position of a sequence: each push takes a number (each pop from a ring's pop sequence).
-- {sequence} the sequence
-- > moved    the last number taken; NULL if we may not see it
SELECT (
    SELECT CONVERT(bigint, q.current_value)
    FROM sys.sequences AS q
    WHERE q.object_id = OBJECT_ID({sequence!literal})
) AS moved
