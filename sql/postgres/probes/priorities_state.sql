-- The oldest ready message of each priority, if the table has a state column. Uses an index that starts with the
-- priority: one seek per priority, whatever the depth.
-- {table}        the queue's table
-- {message_id}   column: the id of the message
-- {id}           column: the order of messages with the same priority
-- {priority}     column: the priority
-- {enqueued_at?} column: when the message was pushed
-- {state}        column: the state
-- :ready         the state value of a ready message
-- :limit         maximum number of priorities
-- > priority     the priority
-- > head_id      id of its oldest ready message
-- > oldest_s     seconds since that was pushed
WITH RECURSIVE step AS (
    (
        SELECT CAST(q.{priority} AS bigint) AS priority, 1 AS place
        FROM {table} AS q
        WHERE q.{state} = :ready
        ORDER BY q.{priority}
        LIMIT 1
    )
    UNION ALL
    SELECT
        (
            SELECT CAST(q.{priority} AS bigint)
            FROM {table} AS q
            WHERE q.{state} = :ready AND q.{priority} > s.priority
            ORDER BY q.{priority}
            LIMIT 1
        ),
        s.place + 1
    FROM step AS s
    WHERE s.priority IS NOT NULL
        AND s.place < CAST(:limit AS int)
)
SELECT
    s.priority,
    CAST(h.id AS text) AS head_id,
    CAST(extract(epoch FROM clock_timestamp() - h.enqueued_at) AS float8) AS oldest_s
FROM step AS s
CROSS JOIN LATERAL (
    SELECT q.{message_id} AS id, {enqueued_at?!moment} AS enqueued_at
    FROM {table} AS q
    WHERE q.{state} = :ready AND q.{priority} = s.priority
    ORDER BY q.{id}
    LIMIT 1
) AS h
WHERE s.priority IS NOT NULL
