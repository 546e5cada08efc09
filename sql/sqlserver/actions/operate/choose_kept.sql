-- What of a requeue can be taken back: the messages that nobody has popped since (not in the state of before, nobody's,
-- and with as many attempts), frozen.
-- {kept}       what was changed, as it was before
-- {table}      the queue's table
-- {id}         column: the id
-- {state}      column: the state
-- {since?}     column: when it was popped; NULL after a requeue
-- {owner?}     column: who popped it; NULL after a requeue
-- {attempts?}  column: how often it was popped
-- :operation   the operation
-- :ids         only these, XML; NULL: all
-- :some        whether :ids are given
-- :limit       so many at most
-- :chunk       rows of the result hold so many each: here always one
-- > what       chosen, or why rows are left out
-- > count      how many
-- > keys       the id of a chosen one
-- > versions   always empty
SET NOCOUNT ON;
DECLARE @ids xml = CAST(CAST(:ids AS nvarchar(max)) AS xml);
DECLARE @operation varchar(40) = :operation, @some bit = :some, @limit bigint = :limit, @chunk int = :chunk;
WITH told AS (
    SELECT CONVERT(nvarchar(450), k.qmon_id) AS qmon_key, k.qmon_id,
           CASE WHEN EXISTS (
               SELECT 1
               FROM {table} WITH (NOLOCK)
               WHERE {id} = k.qmon_id
            AND {state} <> k.qmon_state
            AND {since?} IS NULL
            AND {owner?} IS NULL
            AND (k.qmon_attempts IS NULL OR {attempts?} = k.qmon_attempts)
           ) THEN 'chosen' ELSE 'popped again, or changed since' END AS what
    FROM (
        SELECT qmon_operation, {id} AS qmon_id, {state} AS qmon_state, {attempts?} AS qmon_attempts
        FROM {kept}
    ) AS k
    WHERE k.qmon_operation = @operation
        AND (@some = 0 OR k.qmon_id IN (SELECT r.n.value('@k', 'nvarchar(450)') FROM @ids.nodes('/r') AS r(n)))
),
placed AS (
    SELECT t.what, t.qmon_key, ROW_NUMBER() OVER (PARTITION BY t.what ORDER BY t.qmon_id) AS place,
           COUNT_BIG(*) OVER (PARTITION BY t.what) AS those
    FROM told AS t
)
SELECT p.what, CAST(1 AS bigint) AS count, p.qmon_key AS keys, N'' AS versions
FROM placed AS p
WHERE p.what = 'chosen' AND p.place <= @limit
UNION ALL
SELECT 'beyond the limit', p.those - @limit, NULL, NULL
FROM placed AS p
WHERE p.what = 'chosen' AND p.place = @limit + 1
UNION ALL
SELECT p.what, p.those, NULL, NULL
FROM placed AS p
WHERE p.what <> 'chosen' AND p.place = 1
OPTION (RECOMPILE, MAXDOP 1)
