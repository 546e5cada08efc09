-- Whether some of these ids belong to several messages.
-- {table}       the queue's table
-- {named!list}  columns of :ids
-- :ids          XML
-- > done        1, or 0
SET NOCOUNT ON;
DECLARE @ids xml = CAST(CAST(:ids AS nvarchar(max)) AS xml);
SELECT {named!list.q}
INTO #ids
FROM {table} AS q
WHERE 1 = 0
UNION ALL
SELECT {named!list.q}
FROM {table} AS q
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
SELECT CASE WHEN EXISTS (
           SELECT 1
           FROM #ids AS i
           JOIN {table} AS q WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK)
               ON EXISTS (SELECT {named!list.q} INTERSECT SELECT {named!list.i})
           GROUP BY {named!list.q}
           HAVING COUNT_BIG(*) > 1
       ) THEN 1 ELSE 0 END AS done
