-- The messages of a library's queue that are in one state, the oldest first, with their details.
-- {table}     the table of messages
-- {id}        column: the id
-- {key}       the same, as a name alone
-- {queue?}    column: the queue
-- {since?}    column: start time of this state
-- {owner?}    column: its consumer
-- {attempts?} column: number of pops
-- {payload?}  column: the message
-- {error?}    column: its last error
-- {rows!where}     condition: the row is in this state
-- {holds!where}    condition: texts in the message and its error
-- {late!where}     condition: for too long
-- {gone!where}     condition: its consumer is dead
-- :proves     whether that condition is there
-- :queue      the queue, NULL for the whole table
-- :ids        only these, a JSON array of rows; NULL: all
-- :payloads   with their payloads
-- :limit      maximum number of rows
-- > id        id as text
-- > version   columns that change when it is popped, or ended and retried
-- > owner     its consumer, from the row
-- > owner_state  dead, alive, unknown; none without an owner
-- > attempts  number of pops
-- > age_s     seconds in this state
-- > late      for too long
-- > payload   its first characters; only its size if it is large
-- > error     the end of its last error
-- > total     number of messages in this state
SELECT
    {id!text} AS id,
    concat_ws('/', {owner?!text}, CAST({attempts?} AS bigint), extract(epoch FROM {since?!utc}),
              CASE WHEN coalesce({owner?!text}, CAST({since?!utc} AS text)) IS NULL THEN q.xmin END) AS version,
    {owner?!text} AS owner,
    CASE
        WHEN CAST(:proves AS boolean) THEN CASE WHEN {gone!where} THEN 'dead' ELSE 'alive' END
        WHEN {owner?!text} IS NULL THEN 'none'
        ELSE 'unknown'
    END AS owner_state,
    CAST({attempts?} AS int) AS attempts,
    CAST(extract(epoch FROM clock_timestamp() - {since?!moment}) AS float8) AS age_s,
    coalesce({late!where}, false) AS late,
    CASE
        WHEN NOT CAST(:payloads AS boolean) THEN NULL
        WHEN pg_column_size({payload?}) > 65536 THEN pg_size_pretty(CAST(pg_column_size({payload?}) AS bigint)) || ' stored'
        ELSE left(CAST({payload?} AS text), 200)
    END AS payload,
    CASE WHEN CAST(:payloads AS boolean) THEN {error?!newest} END AS error,
    count(*) OVER () AS total
FROM {table} AS q
WHERE {rows!where}
  AND {holds!where}
  AND (CAST(:queue AS text) IS NULL OR {queue?!text} = :queue)
  AND (CAST(:ids AS jsonb) IS NULL
       OR q.{key} IN (SELECT g.{key} FROM jsonb_populate_recordset(CAST(NULL AS {table}), CAST(:ids AS jsonb)) AS g))
ORDER BY {since?!utc} NULLS LAST, q.{key}
LIMIT CAST(:limit AS int)
