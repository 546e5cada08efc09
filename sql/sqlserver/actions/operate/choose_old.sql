-- The number of old rows in a trash, by operation.
-- {trash}       the table
-- :older_than   seconds
-- > operation   the operation
-- > count       rows
SELECT q.qmon_operation AS operation, COUNT_BIG(*) AS count
FROM {trash} AS q WITH (READPAST, READCOMMITTEDLOCK)
WHERE q.qmon_trashed_at < DATEADD(SECOND, -CAST(:older_than AS bigint), SYSUTCDATETIME())
GROUP BY q.qmon_operation
ORDER BY q.qmon_operation
