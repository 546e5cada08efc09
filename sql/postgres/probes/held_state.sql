-- Ready rows near the head that a transaction has locked or is marking as popped, by transaction; see "held". For
-- tables without a state for messages in progress: until the consumer commits, a message looks ready to all other
-- sessions.
-- {table} the queue's table
-- {id}    column: the id, in the order of pops
-- {state} column: the state
-- :ready  the state value of a ready message
-- :head   last known head id, NULL at first
-- :limit  maximum number of rows to read
-- > xid     transaction id as text
-- > rows    rows it holds
-- > running true while it has neither committed nor rolled back
WITH held AS MATERIALIZED (
    SELECT CAST(CAST(s.holder AS text) AS bigint) AS xid, CAST(count(*) AS int) AS rows
    FROM (
        SELECT xmax AS holder
        FROM {table}
        WHERE {state} = :ready
            AND {id} >= coalesce(:head, (SELECT {id} FROM {table} WHERE {state} = :ready ORDER BY {id} LIMIT 1))
        ORDER BY {id}
        LIMIT :limit
    ) AS s
    WHERE CAST(s.holder AS text) <> '0'
    GROUP BY s.holder
    ORDER BY 2 DESC
    LIMIT 200
),
-- The id with the server's epoch in front. One from after our snapshot belongs to a transaction that runs.
numbered AS (
    SELECT
        h.xid,
        h.rows,
        now_xid.last,
        h.xid + ((now_xid.last >> 32) - CASE WHEN h.xid - (now_xid.last & 4294967295) > 2147483648 THEN 1 ELSE 0 END)
            * 4294967296 AS full_xid
    FROM held AS h
    CROSS JOIN (SELECT CAST(CAST(pg_snapshot_xmax(pg_current_snapshot()) AS text) AS bigint) AS last) AS now_xid
)
SELECT
    CAST(n.xid AS text) AS xid,
    n.rows,
    CASE
        WHEN n.full_xid < 3 THEN false
        WHEN n.full_xid >= n.last THEN true
        ELSE coalesce(pg_xact_status(CAST(CAST(n.full_xid AS text) AS xid8)) = 'in progress', false)
    END AS running
FROM numbered AS n
