-- How many rows are still where they have just been written: no trigger has written or deleted them once more.
-- {table}   the queue's table
-- :tids     where the rows lie, an array as text
-- :keys     likewise, and in which partition
-- > done    how many are there
SELECT count(*) AS done
FROM {table} AS q
WHERE q.ctid = ANY (CAST(:tids AS tid[]))
  AND q.tableoid || CAST(q.ctid AS text) = ANY (CAST(:keys AS text[]))
