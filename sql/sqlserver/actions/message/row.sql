-- One row, found by its whole key: the value of each column as text, shortened by the server. Row locks do not block
-- this statement, because the session also reads uncommitted rows.
-- {table}      the table
-- {key!where}  condition: the row's key
-- {columns!list}  columns that our role may read
-- > place      number of the column, from 1
-- > size       bytes of the value; NULL if it is NULL
-- > value      the value as text, bytes as hex digits; NULL if it is NULL
SELECT v.place, v.size, v.value
FROM (SELECT TOP (1) {columns!list.q} FROM {table} AS q WHERE {key!where}) AS q
CROSS APPLY (VALUES {columns!values.q}) AS v (place, size, value)
ORDER BY v.place
OPTION (MAXDOP 1)
