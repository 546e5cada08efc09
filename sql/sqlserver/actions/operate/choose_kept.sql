-- The messages of a requeue that can be restored, because they were not popped since: they are not in the previous
-- state, have no owner, and have the same number of attempts.
-- {kept}       changed rows as they were before
-- {table}      the queue's table
-- {key!list}   columns: the key of such a row, which does not change
-- {named!list} columns of :ids
-- {state}      column: the state
-- {since?}     column: when it was popped; NULL after a requeue
-- {owner?}     column: its consumer; NULL after a requeue
-- {attempts?}  column: number of pops
-- :operation   the operation
-- :ids         only these, XML; NULL: all
-- :some        whether :ids are given
-- :limit       maximum number of rows
-- :chunk       number of keys per row of the result: here always one
-- > what       chosen, or the code of the reason why rows are left out
-- > count      number
-- > keys       a row of the store that is chosen
-- > versions   always empty
SET NOCOUNT ON;
DECLARE @ids xml = CAST(CAST(:ids AS nvarchar(max)) AS xml);
SELECT {named!list.q}
INTO #ids
FROM {kept} AS q
WHERE 1 = 0
UNION ALL
SELECT {named!list.q}
FROM {kept} AS q
WHERE 1 = 0;
INSERT INTO #ids ({named!list})
SELECT {named!numbered.k}
FROM (
    SELECT r.n.value('@k1', 'nvarchar(450)') AS k1, r.n.value('@k2', 'nvarchar(450)') AS k2,
           r.n.value('@k3', 'nvarchar(450)') AS k3, r.n.value('@k4', 'nvarchar(450)') AS k4,
           r.n.value('@k5', 'nvarchar(450)') AS k5, r.n.value('@k6', 'nvarchar(450)') AS k6,
           r.n.value('@k7', 'nvarchar(450)') AS k7, r.n.value('@k8', 'nvarchar(450)') AS k8,
           r.n.value('@k', 'nvarchar(max)') AS k, r.n.value('@v', 'nvarchar(max)') AS v
    FROM @ids.nodes('/r') AS r(n)
) AS k;
DECLARE @operation varchar(40) = :operation, @some bit = :some, @limit bigint = :limit, @chunk int = :chunk;
WITH told AS (
    SELECT k.qmon_row,
           CASE WHEN (
               SELECT COUNT_BIG(*)
               FROM {table} AS q WITH (FORCESEEK, NOLOCK)
               WHERE {key!on.k}
                   AND q.{state} <> k.qmon_state
                   AND {since?} IS NULL
                   AND {owner?} IS NULL
                   AND (k.qmon_attempts IS NULL OR {attempts?} = k.qmon_attempts)
           ) = 1 THEN 'chosen' ELSE 'changed' END AS what
    FROM (
        SELECT qmon_row, qmon_operation, {state} AS qmon_state, {attempts?} AS qmon_attempts, {key!list}
        FROM {kept}
    ) AS k
    WHERE k.qmon_operation = @operation
        AND (@some = 0 OR k.qmon_row IN (
            SELECT o.qmon_row
            FROM {kept} AS o
            WHERE EXISTS (SELECT {named!list.i} FROM #ids AS i INTERSECT SELECT {named!list.o})
        ))
)
SELECT t.what, CONVERT(nvarchar(20), t.qmon_row) AS qmon_key,
       ROW_NUMBER() OVER (PARTITION BY t.what ORDER BY t.qmon_row) AS place,
       COUNT_BIG(*) OVER (PARTITION BY t.what) AS those
INTO #placed
FROM told AS t
OPTION (MAXDOP 1);
SELECT p.what, CAST(1 AS bigint) AS count, p.qmon_key AS keys, N'' AS versions
FROM #placed AS p
WHERE p.what = 'chosen' AND p.place <= @limit
UNION ALL
SELECT 'over_limit', p.those - @limit, NULL, NULL
FROM #placed AS p
WHERE p.what = 'chosen' AND p.place = @limit + 1
UNION ALL
SELECT p.what, p.those, NULL, NULL
FROM #placed AS p
WHERE p.what <> 'chosen' AND p.place = 1
OPTION (MAXDOP 1)
