-- The names of the locks of rows that are there, be they committed or not, the newest first: what holds one of these has
-- added the row, not taken it.
-- {table}   the table
-- {order}   column: the order of pushes
-- :limit    maximum number of rows
-- > place   the name of the row's lock
SELECT TOP (:limit) CAST(RTRIM(%%lockres%%) AS nvarchar(256)) AS place
FROM {table} AS q WITH (NOLOCK)
ORDER BY q.{order} DESC
OPTION (MAXDOP 1)
