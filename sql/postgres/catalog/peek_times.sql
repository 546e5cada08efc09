-- The times of the newest rows of a table, and the clock to compare them with: the newest 20 by an index.
-- {table}    the table
-- {id}       column: the id; an index must lead with it
-- {column}   column: the time, without a time zone
-- :zone      the time zone of the server's local time
-- > newest   the time of a row, the newest row first; infinite ones are left out
-- > utc      the clock in UTC
-- > local    the clock in the server's local time
SELECT to_char(t.{column}, 'YYYY-MM-DD HH24:MI:SS')                                                       AS newest,
       to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS')                             AS utc,
       to_char(clock_timestamp() AT TIME ZONE CAST(:zone AS text), 'YYYY-MM-DD HH24:MI:SS')               AS local
FROM (SELECT q.{id}, q.{column} FROM {table} AS q ORDER BY q.{id} DESC LIMIT 20) AS t
WHERE t.{column} BETWEEN CAST('1900-01-01' AS timestamp) AND CAST('9998-01-01' AS timestamp)
ORDER BY t.{id} DESC
