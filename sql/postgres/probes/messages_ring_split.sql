-- The next messages of a ring of pointers, for the queue screen, with payloads from the second table: first the
-- messages whose number a consumer has taken, then ready messages.
-- {table}        the ring's table
-- {slot}         column: the slot
-- {message_id}   column: the number of the message in the slot, NULL if it is empty
-- {data_table}   the table with the payloads
-- {data_id}      column of the second table: the message's number
-- {enqueued_at?} column: when the message was pushed
-- {payload?}     column of the second table: the message
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
    d.payload,
    CAST(NULL AS text) AS error
FROM (
    SELECT min(coalesce(pg_sequence_last_value(o.seqrelid), o.seqstart - 1)) AS pop_last
    FROM pg_sequence AS o
    WHERE o.seqrelid = ANY (CAST(:pop_sequences AS oid[]))
) AS p
CROSS JOIN LATERAL generate_series(greatest(p.pop_last - 32, 0), p.pop_last + least(:limit, {size!int})) AS w(n)
CROSS JOIN LATERAL (
    SELECT {enqueued_at?!moment} AS enqueued_at
    FROM {table}
    WHERE {slot} = w.n % {size!int}
        AND {message_id} = w.n
    LIMIT 1
) AS m
LEFT JOIN LATERAL (
    SELECT
        CASE
            WHEN pg_column_size({payload?}) > 65536 THEN coalesce(
                pg_size_pretty(CAST(octet_length({sized?}) AS bigint)),
                pg_size_pretty(CAST(pg_column_size({payload?}) AS bigint)) || ' stored')
            ELSE left(CAST({payload?} AS text), 200)
        END AS payload
    FROM {data_table}
    WHERE {data_id} = w.n
    LIMIT 1
) AS d ON true
ORDER BY w.n
LIMIT :limit
