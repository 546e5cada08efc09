-- The first messages of a queue that deletes on pop, for the queue screen. One that a running transaction has locked or
-- deleted is in progress, and its owner is that session.
-- {table}        the queue's table
-- {id}           column: the id, in the order of pops
-- {enqueued_at?} column: when it was pushed
-- {attempts?}    column: how often it was popped
-- {payload?}     column: the message
-- :head          last known head id, NULL at first
-- :limit         so many at most
-- > id           id as text
-- > state        in_progress or ready
-- > age_s        seconds since it was pushed; for a message in progress since its popper's transaction began
-- > owner        session that holds it
-- > attempts     how often it was popped
-- > payload      its first characters; its size alone where it is large
SELECT
    m.id,
    CASE WHEN l.pid IS NULL THEN 'ready' ELSE 'in_progress' END AS state,
    CAST(extract(epoch FROM clock_timestamp() - coalesce(a.xact_start, m.enqueued_at)) AS float8) AS age_s,
    CAST(l.pid AS text) AS owner,
    m.attempts,
    m.payload
FROM (
    SELECT
        CAST({id} AS text) AS id,
        CAST(xmax AS text) AS holder,
        CAST({enqueued_at?} AS timestamptz) AS enqueued_at,
        CAST({attempts?} AS int) AS attempts,
        CASE
            WHEN pg_column_size({payload?}) > 65536 THEN pg_size_pretty(CAST(pg_column_size({payload?}) AS bigint))
            ELSE left(CAST({payload?} AS text), 200)
        END AS payload,
        row_number() OVER (ORDER BY {id}) AS place
    FROM {table}
    WHERE {id} >= coalesce(:head, (SELECT {id} FROM {table} ORDER BY {id} LIMIT 1))
    ORDER BY {id}
    LIMIT :limit
) AS m
LEFT JOIN pg_locks AS l
    ON l.locktype = 'transactionid' AND l.granted AND CAST(l.transactionid AS text) = m.holder
LEFT JOIN LATERAL pg_stat_get_activity(l.pid) AS a ON a.pid = l.pid
ORDER BY m.place
