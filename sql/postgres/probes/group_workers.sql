-- The active workers of a library, by their queue if it is recorded.
-- {table}     the table of workers
-- {queue?}    column: the queue
-- {rows!where}     condition: the worker has been heard of lately
-- > queue     the queue, NULL if the row does not contain it
-- > counted   workers
SELECT r.queue, CAST(count(*) AS bigint) AS counted
FROM (
    SELECT {queue?!text} AS queue
    FROM {table} AS q
    WHERE {rows!where}
) AS r
GROUP BY r.queue
