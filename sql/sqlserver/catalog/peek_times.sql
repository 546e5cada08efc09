-- The times of the newest 20 rows of a table, by an index, and the clock to compare the times with.
-- {table}    the table
-- {id}       column: the id; an index must lead with it
-- {column}   column: the time, without a time zone
-- > newest   the time of a row, the newest row first; those that mean never are left out
-- > utc      the clock in UTC
-- > local    the clock in the server's local time
SELECT
    CONVERT(varchar(19), t.{column}, 120) AS newest,
    CONVERT(varchar(19), SYSUTCDATETIME(), 120) AS utc,
    CONVERT(varchar(19), SYSDATETIME(), 120) AS local
FROM (SELECT TOP (20) q.{id}, q.{column} FROM {table} AS q ORDER BY q.{id} DESC) AS t
WHERE t.{column} > '19010101' AND t.{column} < '20780101'
ORDER BY t.{id} DESC
