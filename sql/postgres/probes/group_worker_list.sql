-- The active workers of a library. They are read while a screen shows the consumers of one of its queues.
-- {table}     the table of workers
-- {name}      column: the name by which messages refer to their worker
-- {host?}     column: the worker's machine
-- {started?}  column: when it started
-- {queue?}    column: the queue
-- {rows!where}     condition: the worker has been heard of lately
-- :limit      maximum number of workers
-- > worker    that name
-- > host      its machine
-- > started_s seconds since it started
-- > queue     the queue, NULL if the row does not contain it
SELECT
    coalesce({name!text}, '') AS worker,
    {host?!text} AS host,
    CAST(extract(epoch FROM clock_timestamp() - {started?!moment}) AS float8) AS started_s,
    {queue?!text} AS queue
FROM {table} AS q
WHERE {rows!where}
LIMIT CAST(:limit AS int)
