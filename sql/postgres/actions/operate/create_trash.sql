-- Makes a table for purged rows: the columns of the queue's table with their types, and nothing else of it. Generated
-- columns become plain ones that hold the value.
-- {trash}         its name
-- {table}         the queue's table
-- {columns!list}  its columns
CREATE TABLE {trash} AS
SELECT CAST(NULL AS text) AS qmon_operation, CAST(NULL AS timestamptz) AS qmon_trashed_at, {columns!list.q}
FROM {table} AS q
WITH NO DATA
