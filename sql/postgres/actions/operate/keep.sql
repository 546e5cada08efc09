-- Saves the values that a requeue is about to change, for its undo. One transaction writes the kept row and the changed
-- row: if both have the same xmin, the message has not changed since.
-- {kept}       qmon's table for that
-- {table}      the queue's table
-- {columns!list}  its key and the columns that change
-- :operation   the operation
-- :tids        positions of the rows, an array as text
-- :keys        the same, with the partition
INSERT INTO {kept} (qmon_operation, {columns!list})
SELECT :operation, {columns!list.q}
FROM {table} AS q
WHERE q.ctid = ANY (CAST(:tids AS tid[]))
  AND q.tableoid || CAST(q.ctid AS text) = ANY (CAST(:keys AS text[]))
