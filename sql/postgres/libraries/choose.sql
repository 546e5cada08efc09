-- Messages of a library's queue that are in one state, the oldest first, and what is known of each.
-- {table}     the table of messages
-- {id}        column: the id
-- {key}       the same, as a name alone
-- {queue?}    column: the queue
-- {since?}    column: since when it is in this state
-- {owner?}    column: who works on it
-- {attempts?} column: how often it was popped
-- {payload?}  column: the message
-- {error?}    column: why it failed last
-- {rows!where}     condition: the row is in this state
-- {holds!where}    condition: what the message and its error contain
-- {late!where}     condition: for too long
-- {gone!where}     condition: whoever works on it is known to be gone
-- :proves     whether that condition is there
-- :queue      the queue, NULL for the whole table
-- :ids        these only, a JSON array of rows; NULL: all
-- :payloads   with their payloads
-- :limit      so many at most
-- > id        id as text
-- > version   what changes when it is popped, or ended and tried again
-- > owner     who works on it, as the row says
-- > owner_state  dead, alive, unknown; none without an owner
-- > attempts  how often it was popped
-- > age_s     seconds in this state
-- > late      for too long
-- > payload   its first characters; its size alone where it is large
-- > error     the newest end of why it failed last
-- > total     so many are in this state
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
