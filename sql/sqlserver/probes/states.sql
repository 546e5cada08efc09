-- The number of messages in each unknown state: one seek for each of at most 20 values of the state, in an index that
-- starts with the state, and a limited count of the rows of each unknown value.
-- {table}        the queue's table
-- {state}        column: the state
-- {states_index} the index of all rows that leads with the state
-- :known         the state values that are known, each between two bars
-- :limit         the greatest count of each state
-- > value        the state as text, the word NULL if a row has none
-- > counted      rows seen, at most :limit
WITH walk AS (
    SELECT a.qmon_value, 1 AS step
    FROM (
        SELECT TOP (1) t.{state} AS qmon_value
        FROM {table} AS t WITH (INDEX ({states_index}))
        WHERE t.{state} IS NOT NULL
        ORDER BY t.{state}
    ) AS a
    UNION ALL
    SELECT following.qmon_value, following.step
    FROM (
        SELECT t.{state} AS qmon_value, walk.step + 1 AS step, ROW_NUMBER() OVER (ORDER BY t.{state}) AS place
        FROM walk
        JOIN {table} AS t WITH (INDEX ({states_index})) ON t.{state} > walk.qmon_value
        WHERE walk.step < 20
    ) AS following
    WHERE following.place = 1
)
SELECT
    COALESCE(RTRIM(CAST(w.qmon_value AS nvarchar(100))), N'NULL') AS value,
    CAST(c.rows_seen AS int) AS counted
FROM walk AS w
CROSS APPLY (
    SELECT COUNT(*) AS rows_seen
    FROM (
        SELECT TOP (:limit) 1 AS qmon_row
        FROM {table} AS q WITH (INDEX ({states_index}))
        WHERE q.{state} = w.qmon_value
    ) AS r
) AS c
WHERE w.qmon_value IS NOT NULL
    AND CHARINDEX(N'|' + RTRIM(CAST(w.qmon_value AS nvarchar(100))) + N'|', CAST(:known AS nvarchar(max))) = 0
UNION ALL
SELECT N'NULL' AS value, CAST(COUNT(*) AS int) AS counted
FROM (
    SELECT TOP (:limit) 1 AS qmon_row
    FROM {table} AS q WITH (INDEX ({states_index}))
    WHERE q.{state} IS NULL
) AS n
HAVING COUNT(*) > 0
OPTION (MAXDOP 1)
