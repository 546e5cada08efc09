-- Tries to insert no row at all, in a transaction that is rolled back whatever comes of it: the gate, a trigger, is asked
-- all the same. No number is drawn.
-- {table}   the table
-- {column}  one of its columns that can be written
INSERT INTO {table} ({column})
SELECT q.{column}
FROM {table} AS q
WHERE 1 = 0
