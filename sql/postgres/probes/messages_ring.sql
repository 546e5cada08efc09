-- The next messages of a ring, for the queue screen: first the messages whose number a consumer has taken, then ready
-- messages. With several subscribers, the messages of the slowest subscriber.
-- {table}        the ring's table
-- {slot}         column: the slot
-- {message_id}   column: the number of the message in the slot, NULL if it is empty
-- {enqueued_at?} column: when the message was pushed
-- {payload?}     column: the message
-- {sized?}       the same column, if its type gives the size without unpacking the value
-- {size!int}     slots in the ring
-- :pop_sequences ids of the pop sequences as an array, {1,2}: one, or one for each subscriber
-- :limit         maximum number of rows
-- > id           the message's number
-- > state        in_progress or ready
-- > age_s        seconds since it was pushed
-- > owner        NULL: a ring does not record who took a number
-- > attempts     NULL: a pop is final
-- > payload      its first characters; only its size if it is large
-- > error        NULL: a ring has no column for errors
SELECT
    CAST(w.n AS text) AS id,
    CASE WHEN w.n <= p.pop_last THEN 'in_progress' ELSE 'ready' END AS state,
    CAST(extract(epoch FROM clock_timestamp() - m.enqueued_at) AS float8) AS age_s,
    CAST(NULL AS text) AS owner,
    CAST(NULL AS int) AS attempts,
    m.payload,
    CAST(NULL AS text) AS error
FROM (
    SELECT min(coalesce(pg_sequence_last_value(o.seqrelid), o.seqstart - 1)) AS pop_last
    FROM pg_sequence AS o
    WHERE o.seqrelid = ANY (CAST(:pop_sequences AS oid[]))
) AS p
CROSS JOIN LATERAL generate_series(greatest(p.pop_last - 32, 0), p.pop_last + least(:limit, {size!int})) AS w(n)
CROSS JOIN LATERAL (
    SELECT
        {enqueued_at?!moment} AS enqueued_at,
        CASE
            WHEN pg_column_size({payload?}) > 65536 THEN coalesce(
                pg_size_pretty(CAST(octet_length({sized?}) AS bigint)),
                pg_size_pretty(CAST(pg_column_size({payload?}) AS bigint)) || ' stored')
            ELSE left(CAST({payload?} AS text), 200)
        END AS payload
    FROM {table}
    WHERE {slot} = w.n % {size!int}
        AND {message_id} = w.n
    LIMIT 1
) AS m
ORDER BY w.n
LIMIT :limit
