-- The distinct values of a column that leads an index, at most 33, with one seek per value.
-- {table}    the table
-- {column}   the column; an index must lead with it
-- > value    one value as text
WITH walk AS (
    SELECT MIN(t.{column}) AS found, 1 AS step
    FROM {table} AS t
    UNION ALL
    SELECT following.found, following.step
    FROM (
        SELECT t.{column} AS found, walk.step + 1 AS step, ROW_NUMBER() OVER (ORDER BY t.{column}) AS place
        FROM walk
        JOIN {table} AS t ON t.{column} > walk.found
        WHERE walk.step < 33
    ) AS following
    WHERE following.place = 1
)
SELECT CAST(walk.found AS nvarchar(100)) AS value
FROM walk
WHERE walk.found IS NOT NULL
ORDER BY walk.step
