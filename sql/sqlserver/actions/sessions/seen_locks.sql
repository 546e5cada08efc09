-- The names of the locks of visible rows, committed or not, the newest first: a transaction with such a lock has added
-- the row and not popped it.
-- {table}   the table
-- {order}   column: the order of pushes
-- :limit    maximum number of rows
-- > place   the name of the row's lock
SELECT TOP (:limit) CAST(RTRIM(%%lockres%%) AS nvarchar(256)) AS place
FROM {table} AS q WITH (NOLOCK)
ORDER BY q.{order} DESC
OPTION (MAXDOP 1)
