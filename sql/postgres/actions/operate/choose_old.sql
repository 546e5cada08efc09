-- The number of old rows in a trash, by operation.
-- {trash}       the table
-- :older_than   seconds
-- > operation   the operation
-- > count       rows
SELECT q.qmon_operation AS operation, count(*) AS count
FROM {trash} AS q
WHERE q.qmon_trashed_at < clock_timestamp() - make_interval(secs => CAST(:older_than AS float8))
GROUP BY 1
ORDER BY 1
