-- The names of the locks of visible rows, committed or not, in any order; see "seen_locks".
-- {table}   the table
-- :limit    maximum number of rows
-- > place   the name of the row's lock
SELECT TOP (:limit) CAST(RTRIM(%%lockres%%) AS nvarchar(256)) AS place
FROM {table} AS q WITH (NOLOCK)
OPTION (MAXDOP 1)
