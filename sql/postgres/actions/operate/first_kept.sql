-- The first of the messages that a store keeps, for people. Payloads are cut short by the server.
-- {store}      the trash, or what requeues changed
-- {called?!text} columns: what a message is called by
-- {state?}     column: the state
-- {since?}     column: when it was popped, or pushed
-- {owner?}     column: who popped it
-- {attempts?}  column: how often it was popped
-- {payload?}   column: the message
-- {sized?}     the same column, where its type tells a value's size without unpacking it
-- :rows        which rows of the store, an array as text
-- > key        the row of the store
-- > id         id as text
-- > state      state value as text
-- > age_s      seconds
-- > owner      who popped it
-- > attempts   how often it was popped
-- > payload    its first characters; its size alone where it is large
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
