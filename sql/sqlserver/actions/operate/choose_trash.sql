-- The rows of one purge that are in the trash and can be put back.
-- {trash}      the trash of the queue's table
-- {table}      the queue's table
-- {key!list}   columns: the key of such a row
-- {named!list} columns of :ids
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
FROM {trash} AS q
WHERE 1 = 0
UNION ALL
SELECT {named!list.q}
FROM {trash} AS q
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
    SELECT q.qmon_row,
           CASE WHEN EXISTS (
               SELECT 1
               FROM {table} AS t WITH (NOLOCK)
               WHERE EXISTS (SELECT {key!list.t} INTERSECT SELECT {key!list.q})
           ) THEN 'id_taken' ELSE 'chosen' END AS what
    FROM {trash} AS q
    WHERE q.qmon_operation = @operation
        AND (@some = 0 OR EXISTS (SELECT {named!list.i} FROM #ids AS i INTERSECT SELECT {named!list.q}))
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
