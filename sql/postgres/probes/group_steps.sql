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
    CAST(:step AS text) AS step,
    r.queue,
    CAST(count(*) AS bigint) AS counted,
    CAST(count(*) FILTER (WHERE r.id <= CAST(:settled AS bigint)) AS bigint) AS settled
FROM (
    SELECT {queue?!text} AS queue, q.{id} AS id
    FROM {log} AS q
    WHERE q.{id} > CAST(:after AS bigint) AND {rows!where}
) AS r
GROUP BY r.queue
