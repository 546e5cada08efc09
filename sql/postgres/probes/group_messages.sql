-- Messages of one queue of a group that are in one state, the oldest first.
-- {table}     the group's table
-- {id}        column: the id
-- {queue?}    column: the queue
-- {since?}    column: the time that the age is counted from
-- {owner?}    column: its consumer
-- {attempts?} column: number of pops
-- {payload?}  column: the message
-- {error?}    column: its last error
-- {rows!where}     condition: the row is in this state
-- :state      name of the state
-- :queue      the queue, NULL for the whole table
-- :limit      maximum number of rows
-- > id        id as text
-- > state     the same
-- > age_s     its age in seconds
-- > owner     its consumer
-- > attempts  number of pops
-- > payload   its first characters; only its size if it is large
-- > error     the end of its last error
SELECT
    {id!text} AS id,
    CAST(:state AS text) AS state,
    CAST(extract(epoch FROM clock_timestamp() - {since?!moment}) AS float8) AS age_s,
    {owner?!text} AS owner,
    CAST({attempts?} AS int) AS attempts,
    CASE
        WHEN pg_column_size({payload?}) > 65536 THEN pg_size_pretty(CAST(pg_column_size({payload?}) AS bigint)) || ' stored'
        ELSE left(CAST({payload?} AS text), 200)
    END AS payload,
    {error?!newest} AS error
FROM {table} AS q
WHERE {rows!where} AND (CAST(:queue AS text) IS NULL OR {queue?!text} = :queue)
ORDER BY {since?!utc} NULLS LAST
LIMIT CAST(:limit AS int)
