-- Deletes rows from the trash that are back in a queue without a key.
-- {trash}      qmon's table for that
-- :rows        rows of the trash, an array as text
DELETE FROM {trash} AS q
WHERE q.qmon_row = ANY (CAST(:rows AS bigint[]))
