-- The distinct values of a column among the first rows of a table that the catalogue knows to be small.
-- {table}    the table
-- {column}   the column
-- > value    one value as text
SELECT DISTINCT CAST(few.value AS text) AS value
FROM (SELECT {column} AS value FROM {table} LIMIT 500) AS few
WHERE few.value IS NOT NULL
ORDER BY 1
LIMIT 12
