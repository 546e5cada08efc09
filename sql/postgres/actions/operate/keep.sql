-- Keeps what a requeue is about to change, for its undo. The row kept and the row changed are written by the same
-- transaction, and as long as they have the same xmin nobody has touched the message since.
-- {kept}       qmon's table for that
-- {table}      the queue's table
-- {columns!list}  its key and the columns that change
-- :operation   the operation
-- :tids        where the rows lie, an array as text
-- :keys        likewise, and in which partition
INSERT INTO {kept} (qmon_operation, {columns!list})
SELECT :operation, {columns!list.q}
FROM {table} AS q
WHERE q.ctid = ANY (CAST(:tids AS tid[]))
  AND q.tableoid || CAST(q.ctid AS text) = ANY (CAST(:keys AS text[]))
