-- The first of the chosen messages, to show to people. The server shortens payloads.
-- {table}      the queue's table
-- {called?!text} columns: the name of a message
-- {state?}     column: the state
-- {since?}     column: when it was popped, or pushed
-- {owner?}     column: its consumer
-- {attempts?}  column: number of pops
-- {payload?}   column: the message
-- {error?}     column: its last error
-- {sized?}     the same column, if its type gives the size without unpacking the value
-- :tids        positions of the rows, an array as text
-- :keys        the same, with the partition
-- > key        position of the row
-- > id         id as text
-- > state      state value as text
-- > age_s      seconds
-- > owner      its consumer
-- > attempts   number of pops
-- > payload    its first characters; only its size if it is large
-- > error      the end of its last error
SELECT q.tableoid || CAST(q.ctid AS text)                                                          AS key,
       {called?!text.q}                                                                            AS id,
       CAST({state?} AS text)                                                                      AS state,
       CAST(extract(epoch FROM clock_timestamp() - {since?!moment}) AS float8)       AS age_s,
       CAST({owner?} AS text)                                                                      AS owner,
       CAST({attempts?} AS int)                                                                    AS attempts,
       CASE WHEN pg_column_size({payload?}) > 65536 THEN coalesce(
                pg_size_pretty(CAST(octet_length({sized?}) AS bigint)),
                pg_size_pretty(CAST(pg_column_size({payload?}) AS bigint)) || ' stored')
            ELSE left(CAST({payload?} AS text), 200) END                                           AS payload,
       {error?!newest}                                                                             AS error
FROM {table} AS q
WHERE q.ctid = ANY (CAST(:tids AS tid[]))
  AND q.tableoid || CAST(q.ctid AS text) = ANY (CAST(:keys AS text[]))
