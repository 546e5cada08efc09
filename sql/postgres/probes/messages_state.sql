-- Messages in progress for the queue screen, the longest-running first.
-- {table}       the queue's table
-- {called!text}  columns: the name of a message
-- {state}       column: the state
-- {started_at?} column: when it was popped
-- {owner?}      column: its consumer
-- {attempts?}   column: number of pops
-- {payload?}    column: the message
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
    m.seen_id AS id,
    'in_progress' AS state,
    CAST(extract(epoch FROM clock_timestamp() - m.seen_started_at) AS float8) AS age_s,
    coalesce(m.seen_owner) AS owner,
    coalesce(m.seen_attempts) AS attempts,
    m.seen_payload AS payload,
    m.seen_error AS error
FROM (
    SELECT
        {called!text} AS seen_id,
        {started_at?!moment} AS seen_started_at,
        CAST({owner?} AS text) AS seen_owner,
        CAST({attempts?} AS int) AS seen_attempts,
        CASE
            WHEN pg_column_size({payload?}) > 65536 THEN coalesce(
                pg_size_pretty(CAST(octet_length({sized?}) AS bigint)),
                pg_size_pretty(CAST(pg_column_size({payload?}) AS bigint)) || ' stored')
            ELSE left(CAST({payload?} AS text), 200)
        END AS seen_payload,
        {error?!newest} AS seen_error
    FROM {table}
    WHERE {state} = :in_progress
    ORDER BY {started_at?!utc} NULLS LAST
    LIMIT :limit
) AS m
