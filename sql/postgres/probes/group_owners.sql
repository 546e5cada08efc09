-- The owners of a group's messages in progress, the longest-running first.
-- {table}     the group's table
-- {id}        column: the id
-- {queue?}    column: the queue
-- {since?}    column: time when it was popped
-- {owner?}    column: its consumer
-- {attempts?} column: number of pops
-- {error?}    column: its last error
-- {rows!where}     condition: the row is in progress
-- {gone!where}    condition: its consumer is dead
-- :proves     whether that condition is there
-- :limit      maximum number of rows
-- > id        id as text
-- > owner     its consumer, from the row
-- > owner_state  dead, alive, unknown; none without an owner
-- > attempts  number of pops
-- > age_s     seconds since it was popped
-- > error     the end of its last error, if it was popped before
-- > queue     the queue, NULL if the table has only one
SELECT
    {id!text} AS id,
    {owner?!text} AS owner,
    CASE
        WHEN CAST(:proves AS boolean) THEN CASE WHEN {gone!where} THEN 'dead' ELSE 'alive' END
        WHEN {owner?!text} IS NULL THEN 'none'
        ELSE 'unknown'
    END AS owner_state,
    CAST({attempts?} AS int) AS attempts,
    CAST(extract(epoch FROM clock_timestamp() - {since?!moment}) AS float8) AS age_s,
    CASE WHEN CAST({attempts?} AS int) > 1 THEN {error?!newest} END AS error,
    {queue?!text} AS queue
FROM {table} AS q
WHERE {rows!where}
ORDER BY {since?!utc} NULLS LAST
LIMIT CAST(:limit AS int)
