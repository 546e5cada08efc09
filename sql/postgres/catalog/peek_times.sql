-- The times of the newest 20 rows of a table, by an index, and the clock to compare the times with.
-- {table}    the table
-- {id}       column: the id; an index must lead with it
-- {column}   column: the time, without a time zone
-- > newest   the time of a row, the newest row first; those that mean never are left out
-- > utc      the clock in UTC
-- > local    the clock in the server's local time, as sessions get it that ask for none; ours are in UTC
SELECT to_char(t.{column}, 'YYYY-MM-DD HH24:MI:SS')                                       AS newest,
       to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS')             AS utc,
       to_char(clock_timestamp() AT TIME ZONE s.reset_val, 'YYYY-MM-DD HH24:MI:SS')       AS local
FROM (SELECT q.{id}, q.{column} FROM {table} AS q ORDER BY q.{id} DESC LIMIT 20) AS t
JOIN pg_catalog.pg_settings AS s ON s.name = 'TimeZone'
WHERE t.{column} BETWEEN CAST('1901-01-01' AS timestamp) AND CAST('9998-01-01' AS timestamp)
ORDER BY t.{id} DESC
