-- Deletes rows from the trash that are back in the queue.
-- {table}      the queue's table
-- {trash}      qmon's table for that
-- {key!list}   columns: the key of a row
-- :rows        rows of the trash, an array as text
DELETE FROM {trash} AS q
WHERE q.qmon_row = ANY (CAST(:rows AS bigint[]))
  AND EXISTS (SELECT FROM {table} AS t WHERE ({key!list.t}) = ({key!list.q}))
