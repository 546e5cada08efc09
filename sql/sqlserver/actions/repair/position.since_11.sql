-- The last number taken from a sequence of a ring; 0 before the first. No row if we may not see it.
-- {sequence}  the sequence
-- > position  that number
SELECT CAST(s.current_value AS bigint) AS position
FROM sys.sequences AS s
WHERE s.object_id = OBJECT_ID({sequence!literal})
