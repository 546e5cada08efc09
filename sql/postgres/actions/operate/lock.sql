-- Locks the given rows that have not changed since the plan: same position, same writing transaction, same key, state,
-- time and owner. Skips rows locked by other sessions.
-- {table}      the queue's table
-- {key?!list}  columns: the key of a row
-- {state?}     column: the state
-- {since?}     column: when it was popped, or pushed
-- {owner?}     column: its consumer
-- :tids        positions of the rows, an array as text
-- :keys        the same, with the partition
-- :versions    which version of each is meant, an array as text
-- > key        position of a row that has not changed since the plan
-- > locked     true: we have locked it; false: another session has; NULL: no transaction is known to hold it, and we
--              cannot lock it, because row level security lets us see it but not change it
WITH writing AS MATERIALIZED (
    SELECT l.transactionid AS holder
    FROM pg_catalog.pg_locks AS l
    WHERE l.locktype = 'transactionid' AND l.granted AND l.mode = 'ExclusiveLock'
      AND pg_catalog.row_security_active(to_regclass({table!literal}))
),
wanted AS MATERIALIZED (
    SELECT w.qmon_key, w.qmon_version
    FROM unnest(CAST(:keys AS text[]), CAST(:versions AS text[])) AS w(qmon_key, qmon_version)
),
same AS MATERIALIZED (
    SELECT w.qmon_key,
           NOT pg_catalog.row_security_active(to_regclass({table!literal}))
           OR q.xmax IN (SELECT h.holder FROM writing AS h) AS qmon_held
    FROM {table} AS q
    JOIN wanted AS w ON w.qmon_key = q.tableoid || CAST(q.ctid AS text)
        AND w.qmon_version
            = q.xmin || '/' || hashtextextended(CAST(ROW({key?!list.q}, {state?}, {since?}, {owner?}) AS text), 0)
    WHERE q.ctid = ANY (CAST(:tids AS tid[]))
),
ours AS MATERIALIZED (
    SELECT w.qmon_key
    FROM {table} AS q
    JOIN wanted AS w ON w.qmon_key = q.tableoid || CAST(q.ctid AS text)
        AND w.qmon_version
            = q.xmin || '/' || hashtextextended(CAST(ROW({key?!list.q}, {state?}, {since?}, {owner?}) AS text), 0)
    WHERE q.ctid = ANY (CAST(:tids AS tid[]))
    FOR UPDATE OF q SKIP LOCKED
)
SELECT s.qmon_key AS key, CASE WHEN o.qmon_key IS NOT NULL THEN true WHEN s.qmon_held THEN false END AS locked
FROM same AS s
LEFT JOIN ours AS o ON o.qmon_key = s.qmon_key
