-- The workers of a library that have been heard of lately, by the queue that they serve where that is written down.
-- {table}     the table of workers
-- {queue?}    column: the queue
-- {rows!where}     condition: the worker has been heard of lately
-- > queue     the queue, NULL where that is not written down
-- > counted   workers
SELECT r.qmon_queue AS queue, COUNT_BIG(*) AS counted
FROM (
    SELECT {queue?!text} AS qmon_queue
    FROM {table} AS q
    WHERE {rows!where}
) AS r
GROUP BY r.qmon_queue
OPTION (MAXDOP 1)
