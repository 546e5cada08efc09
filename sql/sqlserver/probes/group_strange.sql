-- The messages of a group in an unknown state, by queue and by the value of the state column.
-- {table}         the group's table
-- {queue?}        column: the queue
-- {state?}        column: the state, if the value of one column gives it
-- {rows!where}    condition: rows to look at
-- {known!where}   condition: the row is in one of the known states
-- :limit          rows of the result at most, those with most messages
-- > queue         the queue, NULL if the table has only one
-- > value         the state as text, at most 100 characters; NULL if it is NULL, or if no single column gives it
-- > counted       messages
SELECT TOP (CAST(:limit AS int))
    r.qmon_queue AS queue,
    r.qmon_value AS value,
    COUNT_BIG(*) AS counted
FROM (
    SELECT {queue?!text} AS qmon_queue, LEFT({state?!text}, 100) AS qmon_value
    FROM {table} AS q
    WHERE {rows!where}
        AND CASE WHEN {known!where} THEN 0 ELSE 1 END = 1
) AS r
GROUP BY r.qmon_queue, r.qmon_value
ORDER BY COUNT_BIG(*) DESC, r.qmon_queue, r.qmon_value
OPTION (MAXDOP 1)
