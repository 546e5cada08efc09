-- Locks those of some requeued messages that nobody has touched since; passes over what others have locked.
-- {kept}     what was changed, as it was before
-- {table}    the queue's table
-- {id}       column: the id
-- :tids      where the rows kept lie, an array as text
-- > key      where a row lies whose message is still what the requeue left
-- > locked   we have locked both; otherwise somebody else has one
WITH same AS MATERIALIZED (
    SELECT k.tableoid || CAST(k.ctid AS text) AS qmon_key
    FROM {kept} AS k
    JOIN {table} AS q ON q.{id} = k.{id} AND q.xmin = k.xmin
    WHERE k.ctid = ANY (CAST(:tids AS tid[]))
),
ours AS MATERIALIZED (
    SELECT k.tableoid || CAST(k.ctid AS text) AS qmon_key
    FROM {kept} AS k
    JOIN {table} AS q ON q.{id} = k.{id} AND q.xmin = k.xmin
    WHERE k.ctid = ANY (CAST(:tids AS tid[]))
    FOR UPDATE OF k, q SKIP LOCKED
)
SELECT s.qmon_key AS key, o.qmon_key IS NOT NULL AS locked
FROM same AS s
LEFT JOIN ours AS o ON o.qmon_key = s.qmon_key
