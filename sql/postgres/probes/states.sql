-- The number of messages in each unknown state: one seek for each of at most 20 values of the state, in an index that
-- starts with the state, and a limited count of the rows of each unknown value.
-- {table}   the queue's table
-- {state}   column: the state
-- :known    the state values that are known, each between two bars
-- :limit    the greatest count of each state
-- > value   the state as text, the word NULL if a row has none
-- > counted rows seen, at most :limit
WITH RECURSIVE walk (value, step) AS (
    (SELECT {state}, 1 FROM {table} WHERE {state} IS NOT NULL ORDER BY {state} LIMIT 1)
    UNION ALL
    SELECT (SELECT t.{state} FROM {table} AS t WHERE t.{state} > walk.value ORDER BY t.{state} LIMIT 1), step + 1
    FROM walk
    WHERE walk.value IS NOT NULL AND walk.step < 20
)
SELECT
    left(CAST(w.value AS text), 100) AS value,
    CAST((SELECT count(*) FROM (SELECT 1 FROM {table} AS t WHERE t.{state} = w.value LIMIT :limit) AS c) AS int) AS counted
FROM walk AS w
WHERE w.value IS NOT NULL
    AND position('|' || CAST(w.value AS text) || '|' IN CAST(:known AS text)) = 0
UNION ALL
SELECT 'NULL', CAST(count(*) AS int)
FROM (SELECT 1 FROM {table} WHERE {state} IS NULL LIMIT :limit) AS n
HAVING count(*) > 0
