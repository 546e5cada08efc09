-- The first of the chosen messages, for people. Payloads are cut short by the server.
-- {table}      the queue's table
-- {called?!text} columns: what a message is called by
-- {state?}     column: the state
-- {since?}     column: when it was popped, or pushed
-- {owner?}     column: who popped it
-- {attempts?}  column: how often it was popped
-- {payload?}   column: the message
-- {error?}     column: why it failed last
-- {sized?}     the same column, where its type tells a value's size without unpacking it
-- :tids        where the rows lie, an array as text
-- :keys        likewise, and in which partition
-- > key        where the row lies
-- > id         id as text
-- > state      state value as text
-- > age_s      seconds
-- > owner      who popped it
-- > attempts   how often it was popped
-- > payload    its first characters; its size alone where it is large
-- > error      the newest end of why it failed last
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
