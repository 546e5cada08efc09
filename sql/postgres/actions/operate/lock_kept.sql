-- Locks the given requeued messages that have not changed since the plan; skips rows locked by other sessions.
-- {kept}       changed rows as they were before
-- {table}      the queue's table
-- {key!list}   columns: the key of such a row, which does not change
-- :operation   the requeue
-- :rows        kept rows, an array as text
-- :tids        positions of their messages, an array as text
-- > key        a kept row whose message has not changed since the requeue
-- > locked     true: we have locked both; false: another session has one; NULL: no transaction is known to hold it,
--              and we cannot lock it, because row level security lets us see it but not change it
WITH writing AS MATERIALIZED (
    SELECT l.transactionid AS holder
    FROM pg_catalog.pg_locks AS l
    WHERE l.locktype = 'transactionid' AND l.granted AND l.mode = 'ExclusiveLock'
      AND pg_catalog.row_security_active(to_regclass({table!literal}))
),
same AS MATERIALIZED (
    SELECT k.qmon_row,
           NOT pg_catalog.row_security_active(to_regclass({table!literal}))
           OR k.xmax IN (SELECT h.holder FROM writing AS h)
           OR q.xmax IN (SELECT h.holder FROM writing AS h) AS qmon_held
    FROM {kept} AS k
    JOIN {table} AS q ON ({key!list.q}) = ({key!list.k}) AND q.xmin = k.xmin
    WHERE k.qmon_row = ANY (CAST(:rows AS bigint[])) AND k.qmon_operation = CAST(:operation AS text)
      AND q.ctid = ANY (CAST(:tids AS tid[]))
),
ours AS MATERIALIZED (
    SELECT k.qmon_row
    FROM {kept} AS k
    JOIN {table} AS q ON ({key!list.q}) = ({key!list.k}) AND q.xmin = k.xmin
    WHERE k.qmon_row IN (SELECT s.qmon_row FROM same AS s)
      AND q.ctid = ANY (CAST(:tids AS tid[]))
    FOR UPDATE OF k, q SKIP LOCKED
)
SELECT CAST(s.qmon_row AS text) AS key, CASE WHEN o.qmon_row IS NOT NULL THEN true WHEN s.qmon_held THEN false END AS locked
FROM same AS s
LEFT JOIN ours AS o ON o.qmon_row = s.qmon_row
