-- The number of steps of one kind since a row, for each queue of a group.
-- {log}       the table of steps, to which rows are only ever added
-- {id}        column: numbers its rows in the order of insertion
-- {queue?}    column: the queue
-- {rows!where}    condition: the row is such a step
-- :step       name of the step
-- :after      rows after this one
-- :settled    a later row: those up to it have all been committed
-- > step      the same
-- > queue     the queue, NULL if the table has only one
-- > counted   steps after the first row
-- > settled   of these up to the later one
SELECT
    CAST(:step AS nvarchar(100)) AS step,
    r.qmon_queue AS queue,
    COUNT_BIG(*) AS counted,
    COUNT_BIG(CASE WHEN r.qmon_id <= CAST(:settled AS bigint) THEN 1 END) AS settled
FROM (
    SELECT {queue?!text} AS qmon_queue, q.{id} AS qmon_id
    FROM {log} AS q
    WHERE q.{id} > CAST(:after AS bigint) AND {rows!where}
) AS r
GROUP BY r.qmon_queue
OPTION (MAXDOP 1)
