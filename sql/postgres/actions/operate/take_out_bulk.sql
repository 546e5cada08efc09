-- Takes rows out of the trash that are back in a queue whose rows nothing makes known.
-- {trash}      qmon's table for that
-- :rows        rows of the trash, an array as text
DELETE FROM {trash} AS q
WHERE q.qmon_row = ANY (CAST(:rows AS bigint[]))
