-- The active workers of a library, by their queue if it is recorded.
-- {table}     the table of workers
-- {queue?}    column: the queue
-- {rows!where}     condition: the worker has been heard of lately
-- > queue     the queue, NULL if the row does not contain it
-- > counted   workers
SELECT r.qmon_queue AS queue, COUNT_BIG(*) AS counted
FROM (
    SELECT {queue?!text} AS qmon_queue
    FROM {table} AS q
    WHERE {rows!where}
) AS r
GROUP BY r.qmon_queue
OPTION (MAXDOP 1)
