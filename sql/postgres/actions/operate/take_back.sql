-- Gives requeued messages that we have locked back what the requeue had changed.
-- {table}         the queue's table
-- {kept}          what was changed, as it was before
-- {id}            column: the id
-- {columns!set.k} the columns that were changed
-- :tids           where the rows kept lie, an array as text
UPDATE {table} AS q
SET {columns!set.k}
FROM {kept} AS k
WHERE k.ctid = ANY (CAST(:tids AS tid[])) AND q.{id} = k.{id} AND q.xmin = k.xmin
