-- Rows that a running transaction has deleted or locked, among the rows that are popped first or last. A row contains
-- its holder (xmax).
-- {table}         the queue's table
-- {order}         column: rows are popped by it, from either end
-- {id?}           column: the id
-- {enqueued_at?}  column: when the message was pushed
-- {payload?}      column: the message
-- {sized?}        the same column, if its type gives the size without unpacking the value
-- :limit          maximum number of rows to read at each end
-- > xid           id of the transaction that holds the row, or of a savepoint of it
-- > id            the message
-- > age_s         seconds since it was pushed
-- > payload       its first characters; only its size if it is large
SELECT
    CAST(h.qmon_xid AS text) AS xid,
    CAST({id?} AS text) AS id,
    CAST(extract(epoch FROM clock_timestamp() - {enqueued_at?!moment}) AS float8) AS age_s,
    CASE
        WHEN pg_column_size({payload?}) > 65536 THEN coalesce(
            pg_size_pretty(CAST(octet_length({sized?}) AS bigint)),
            pg_size_pretty(CAST(pg_column_size({payload?}) AS bigint)) || ' stored')
        ELSE left(CAST({payload?} AS text), 200)
    END AS payload
FROM (
    SELECT CAST(CAST(xmax AS text) AS bigint) AS qmon_xid, *
    FROM {table}
    WHERE ctid = ANY (
        ARRAY(
            (SELECT ctid FROM {table} ORDER BY {order} LIMIT CAST(:limit AS int))
            UNION
            (SELECT ctid FROM {table} ORDER BY {order} DESC LIMIT CAST(:limit AS int))
        )
    )
) AS h
CROSS JOIN (
    SELECT CAST(CAST(pg_snapshot_xmax(pg_current_snapshot()) AS text) AS bigint) AS qmon_last
) AS n
-- The id with the server's epoch in front. One from after our snapshot belongs to a transaction that runs.
CROSS JOIN LATERAL (
    SELECT
        h.qmon_xid + (
            (n.qmon_last >> 32) - CASE WHEN h.qmon_xid - (n.qmon_last & 4294967295) > 2147483648 THEN 1 ELSE 0 END
        ) * 4294967296 AS qmon_full
) AS f
WHERE h.qmon_xid <> 0
    AND CASE
        WHEN f.qmon_full >= n.qmon_last THEN true
        ELSE coalesce(pg_xact_status(CAST(CAST(f.qmon_full AS text) AS xid8)) = 'in progress', false)
    END
