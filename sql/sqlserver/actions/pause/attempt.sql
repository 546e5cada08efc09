-- Tries to insert no row at all, in a transaction that is always rolled back: the gate, a trigger, still fires. Takes
-- no number from a sequence.
-- {table}   the table
-- {column}  one of its columns that can be written
INSERT INTO {table} ({column})
SELECT q.{column}
FROM {table} AS q
WHERE 1 = 0
