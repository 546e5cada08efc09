-- The first messages of a store, to show to people. The server shortens payloads.
-- {store}      the trash, or the rows that requeues changed
-- {called?!text} columns: the name of a message
-- {state?}     column: the state
-- {since?}     column: when it was popped, or pushed
-- {owner?}     column: its consumer
-- {attempts?}  column: number of pops
-- {payload?}   column: the message
-- {sized?}     the same column, if its type gives the size without unpacking the value
-- :rows        which rows of the store, an array as text
-- > key        the row of the store
-- > id         id as text
-- > state      state value as text
-- > age_s      seconds
-- > owner      its consumer
-- > attempts   number of pops
-- > payload    its first characters; only its size if it is large
SELECT CAST(q.qmon_row AS text)                                                                    AS key,
       {called?!text.q}                                                                            AS id,
       CAST({state?} AS text)                                                                      AS state,
       CAST(extract(epoch FROM clock_timestamp() - {since?!moment}) AS float8)                        AS age_s,
       CAST({owner?} AS text)                                                                      AS owner,
       CAST({attempts?} AS int)                                                                    AS attempts,
       CASE WHEN pg_column_size({payload?}) > 65536 THEN coalesce(
                pg_size_pretty(CAST(octet_length({sized?}) AS bigint)),
                pg_size_pretty(CAST(pg_column_size({payload?}) AS bigint)) || ' stored')
            ELSE left(CAST({payload?} AS text), 200) END                                           AS payload
FROM {store} AS q
WHERE q.qmon_row = ANY (CAST(:rows AS bigint[]))
