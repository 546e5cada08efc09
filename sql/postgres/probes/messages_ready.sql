-- The first ready messages of a queue that has a state column but no state for messages in progress, for the queue
-- screen. A message that a running transaction has locked or is marking as popped is in progress; see "messages".
-- {table}        the queue's table
-- {id}           column: the order of pops
-- {state}        column: the state
-- {called!text}   columns: the name of a message
-- {enqueued_at?} column: when it was pushed
-- {attempts?}    column: number of pops
-- {payload?}     column: the message
-- {error?}       column: its last error
-- {sized?}       the same column, if its type gives the size without unpacking the value
-- :ready         the state value of a ready message
-- :head          last known head id, NULL at first
-- :limit         maximum number of rows
-- > id           id as text
-- > state        in_progress or ready
-- > age_s        seconds since it was pushed; for a message in progress since its consumer's transaction began
-- > owner        session that holds it
-- > attempts     number of pops
-- > payload      its first characters; only its size if it is large
-- > error        the end of its last error
SELECT
    m.id,
    CASE WHEN m.running THEN 'in_progress' ELSE 'ready' END AS state,
    CAST(extract(epoch FROM clock_timestamp() - coalesce(a.xact_start, m.enqueued_at)) AS float8) AS age_s,
    CAST(l.pid AS text) AS owner,
    coalesce(m.attempts) AS attempts,
    m.payload,
    m.error
FROM (
    SELECT
        {called!text} AS id,
        CAST(q.xmax AS text) AS holder,
        CASE
            WHEN CAST(q.xmax AS text) IN ('0', '1', '2') THEN false
            WHEN CAST(CAST(q.xmax AS text) AS bigint) >= (now_xid.qmon_last_xid & 4294967295)
                AND CAST(CAST(q.xmax AS text) AS bigint) - (now_xid.qmon_last_xid & 4294967295) < 2147483648 THEN true
            ELSE coalesce(pg_xact_status(CAST(CAST(
                CAST(CAST(q.xmax AS text) AS bigint) + ((now_xid.qmon_last_xid >> 32) - CASE
                    WHEN CAST(CAST(q.xmax AS text) AS bigint) - (now_xid.qmon_last_xid & 4294967295) > 2147483648 THEN 1 ELSE 0
                END) * 4294967296
            AS text) AS xid8)) = 'in progress', false)
        END AS running,
        {enqueued_at?!moment} AS enqueued_at,
        CAST({attempts?} AS int) AS attempts,
        CASE
            WHEN pg_column_size({payload?}) > 65536 THEN coalesce(
                pg_size_pretty(CAST(octet_length({sized?}) AS bigint)),
                pg_size_pretty(CAST(pg_column_size({payload?}) AS bigint)) || ' stored')
            ELSE left(CAST({payload?} AS text), 200)
        END AS payload,
        {error?!newest} AS error,
        row_number() OVER (ORDER BY q.{id}) AS place
    FROM {table} AS q
    CROSS JOIN (SELECT CAST(CAST(pg_snapshot_xmax(pg_current_snapshot()) AS text) AS bigint) AS qmon_last_xid) AS now_xid
    WHERE {state} = :ready
        AND {id} >= coalesce(:head, (SELECT {id} FROM {table} WHERE {state} = :ready ORDER BY {id} LIMIT 1))
    ORDER BY q.{id}
    LIMIT :limit
) AS m
LEFT JOIN pg_locks AS l
    ON l.locktype = 'transactionid' AND l.granted AND CAST(l.transactionid AS text) = m.holder
LEFT JOIN LATERAL pg_stat_get_activity(l.pid) AS a ON a.pid = l.pid
ORDER BY m.place
