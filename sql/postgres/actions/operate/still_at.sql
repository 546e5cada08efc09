-- The number of rows that are still at the position to which they were just written, so no trigger has written or deleted
-- them again.
-- {table}   the queue's table
-- :tids     positions of the rows, an array as text
-- :keys     the same, with the partition
-- > done    number of them
SELECT count(*) AS done
FROM {table} AS q
WHERE q.ctid = ANY (CAST(:tids AS tid[]))
  AND q.tableoid || CAST(q.ctid AS text) = ANY (CAST(:keys AS text[]))
