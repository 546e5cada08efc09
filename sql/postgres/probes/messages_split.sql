-- Messages in progress of split tables, for the queue screen, the longest-running first, with payloads from the second
-- table.
-- {table}       the queue's table, with the state
-- {data_table}  the table with the payloads
-- {message_id}  column: the id
-- {data_id}     column of the second table: the id
-- {state}       column: the state
-- {started_at?} column: when it was popped
-- {owner?}      column: its consumer
-- {attempts?}   column: number of pops
-- {payload?}    column of the second table: the message
-- {error?}      column: its last error
-- {sized?}      the same column, if its type gives the size without unpacking the value
-- :in_progress  the state value of a message in progress
-- :limit        maximum number of rows
-- > id          id as text
-- > state       always in_progress
-- > age_s       seconds since it was popped
-- > owner       its consumer
-- > attempts    number of pops
-- > payload     its first characters; only its size if it is large
-- > error       the end of its last error
SELECT
    m.qmon_id AS id,
    'in_progress' AS state,
    CAST(extract(epoch FROM clock_timestamp() - m.qmon_started_at) AS float8) AS age_s,
    coalesce(m.qmon_owner) AS owner,
    coalesce(m.qmon_attempts) AS attempts,
    d.qmon_payload AS payload,
    m.qmon_error AS error
FROM (
    SELECT
        {message_id} AS qmon_key,
        CAST({message_id} AS text) AS qmon_id,
        {started_at?!moment} AS qmon_started_at,
        CAST({owner?} AS text) AS qmon_owner,
        CAST({attempts?} AS int) AS qmon_attempts,
        {error?!newest} AS qmon_error
    FROM {table}
    WHERE {state} = :in_progress
    ORDER BY {started_at?!utc} NULLS LAST
    LIMIT :limit
) AS m
LEFT JOIN LATERAL (
    SELECT
        CASE
            WHEN pg_column_size({payload?}) > 65536 THEN coalesce(
                pg_size_pretty(CAST(octet_length({sized?}) AS bigint)),
                pg_size_pretty(CAST(pg_column_size({payload?}) AS bigint)) || ' stored')
            ELSE left(CAST({payload?} AS text), 200)
        END AS qmon_payload
    FROM {data_table}
    WHERE {data_id} = m.qmon_key
    LIMIT 1
) AS d ON true
ORDER BY m.qmon_started_at NULLS LAST
