-- The distinct values of a column that leads an index, at most 33, with one seek per value.
-- {table}    the table
-- {column}   the column; an index must lead with it
-- > value    one value as text
WITH RECURSIVE walk (value, step) AS (
    (SELECT {column}, 1 FROM {table} WHERE {column} IS NOT NULL ORDER BY {column} LIMIT 1)
    UNION ALL
    SELECT (SELECT t.{column} FROM {table} AS t WHERE t.{column} > walk.value ORDER BY t.{column} LIMIT 1), step + 1
    FROM walk
    WHERE walk.value IS NOT NULL AND walk.step < 33
)
SELECT CAST(value AS text) AS value FROM walk WHERE value IS NOT NULL ORDER BY step
