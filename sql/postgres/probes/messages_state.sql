-- Messages in progress for the queue screen, the longest-running first.
-- {table}       the queue's table
-- {message_id}  column: the id
-- {state}       column: the state
-- {started_at?} column: when it was popped
-- {owner?}      column: who popped it
-- {attempts?}   column: how often it was popped
-- {payload?}    column: the message
-- :in_progress  the state value of a message in progress
-- :limit        so many at most
-- > id          id as text
-- > state       always in_progress
-- > age_s       seconds since it was popped
-- > owner       who popped it
-- > attempts    how often it was popped
-- > payload     its first characters; its size alone where it is large
SELECT
    CAST(m.{message_id} AS text) AS id,
    'in_progress' AS state,
    CAST(extract(epoch FROM clock_timestamp() - m.seen_started_at) AS float8) AS age_s,
    m.seen_owner AS owner,
    m.seen_attempts AS attempts,
    m.seen_payload AS payload
FROM (
    SELECT
        {message_id},
        CAST({started_at?} AS timestamptz) AS seen_started_at,
        CAST({owner?} AS text) AS seen_owner,
        CAST({attempts?} AS int) AS seen_attempts,
        CASE
            WHEN pg_column_size({payload?}) > 65536 THEN pg_size_pretty(CAST(pg_column_size({payload?}) AS bigint))
            ELSE left(CAST({payload?} AS text), 200)
        END AS seen_payload
    FROM {table}
    WHERE {state} = :in_progress
    ORDER BY CAST({started_at?} AS timestamptz) NULLS LAST
    LIMIT :limit
) AS m
