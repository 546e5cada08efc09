-- The workers of a library that have been heard of lately, by the queue that they serve where that is written down.
-- {table}     the table of workers
-- {queue?}    column: the queue
-- {rows!where}     condition: the worker has been heard of lately
-- > queue     the queue, NULL where that is not written down
-- > counted   workers
SELECT r.queue, CAST(count(*) AS bigint) AS counted
FROM (
    SELECT {queue?!text} AS queue
    FROM {table} AS q
    WHERE {rows!where}
) AS r
GROUP BY r.queue
