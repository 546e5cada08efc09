-- Puts rows that we have locked into a state, with the related columns, and to the front of the queue; a row that is
-- already further in front keeps its place. Returns which of them have the written values: read from the table, after
-- its triggers.
-- {table}         the queue's table
-- {key!list}      columns: the key of a row
-- {known!list}    those of them that are not written
-- {attempts?}     column: number of pops
-- {most?}         column: attempts after which it is dead
-- {front}         column that orders the pops
-- {written!list}  the other columns that are written: the state and related ones
-- {certain!list}  those of them that must stay as written: all but times that the server's clock gives
-- :written        their values and that of the front, XML: the server makes its own types of them
-- :max_attempts   attempts after which a message is dead; NULL: never
-- :dead           true: messages with that many attempts; false: the others
-- :keys           keys of the rows, XML
-- > place         nothing: rows are known by their key
-- > same          true: a written row has the written values, and its key is unchanged
SET NOCOUNT ON;
DECLARE @keys xml = CAST(CAST(:keys AS nvarchar(max)) AS xml);
SELECT CAST(N'' AS nvarchar(max)) AS qmon_key, CAST(N'' AS nvarchar(max)) AS qmon_version, {key!list.q}
INTO #wanted
FROM {table} AS q
WHERE 1 = 0
UNION ALL
SELECT CAST(N'' AS nvarchar(max)), CAST(N'' AS nvarchar(max)), {key!list.q}
FROM {table} AS q
WHERE 1 = 0;
INSERT INTO #wanted (qmon_key, qmon_version, {key!list})
SELECT k.k, k.v, {key!numbered.k}
FROM (
    SELECT r.n.value('@k1', 'nvarchar(450)') AS k1, r.n.value('@k2', 'nvarchar(450)') AS k2,
           r.n.value('@k3', 'nvarchar(450)') AS k3, r.n.value('@k4', 'nvarchar(450)') AS k4,
           r.n.value('@k5', 'nvarchar(450)') AS k5, r.n.value('@k6', 'nvarchar(450)') AS k6,
           r.n.value('@k7', 'nvarchar(450)') AS k7, r.n.value('@k8', 'nvarchar(450)') AS k8,
           r.n.value('@k', 'nvarchar(max)') AS k, r.n.value('@v', 'nvarchar(max)') AS v
    FROM @keys.nodes('/r') AS r(n)
) AS k;
DECLARE @written xml = CAST(CAST(:written AS nvarchar(max)) AS xml);
DECLARE @most int = :max_attempts, @dead bit = :dead;
SELECT {written!list.q}, q.{front}
INTO #given
FROM {table} AS q
WHERE 1 = 0
UNION ALL
SELECT {written!list.q}, q.{front}
FROM {table} AS q
WHERE 1 = 0;
INSERT INTO #given ({written!list}, {front})
SELECT {written!list}, {front}
FROM (
    SELECT r.n.value('@c', 'nvarchar(128)') AS qmon_column,
           CASE r.n.value('@w', 'varchar(10)')
                WHEN 'time' THEN CONVERT(nvarchar(23), SYSUTCDATETIME(), 126)
                WHEN 'seconds' THEN CONVERT(nvarchar(20), CAST(DATEDIFF(SECOND, '20000101', SYSUTCDATETIME()) AS bigint) + 946684800)
                ELSE r.n.value('@v', 'nvarchar(max)') END AS qmon_value
    FROM @written.nodes('/w') AS r(n)
) AS s
PIVOT (MAX(qmon_value) FOR qmon_column IN ({written!list}, {front})) AS p;
SELECT {key!list.w}, v.qmon_front
INTO #due
FROM #wanted AS w
CROSS APPLY (
    SELECT CASE WHEN {attempts?} >= COALESCE({most?}, @most) THEN 1 ELSE 0 END AS qmon_dead, q.{front} AS qmon_front
    FROM {table} AS q WITH (FORCESEEK, ROWLOCK, READPAST, READCOMMITTEDLOCK)
    WHERE {key!on.w}
) AS v
WHERE v.qmon_dead = @dead
OPTION (MAXDOP 1, LOOP JOIN);
UPDATE q
SET {written!set.g},
    {front} = CASE WHEN g.{front} < q.{front} THEN g.{front} ELSE q.{front} END
FROM #due AS d
INNER LOOP JOIN {table} AS q WITH (FORCESEEK, ROWLOCK, READPAST, READCOMMITTEDLOCK) ON {key!on.d}
CROSS JOIN #given AS g
OPTION (MAXDOP 1);
SELECT N'' AS place,
       CAST(CASE WHEN EXISTS (
           SELECT 1
           FROM {table} AS q WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK)
           WHERE {known!on.d}
               AND EXISTS (
                   SELECT {certain!list.q}, q.{front}
                   INTERSECT
                   SELECT {certain!list.g}, CASE WHEN g.{front} < d.qmon_front THEN g.{front} ELSE d.qmon_front END
               )
       ) THEN 1 ELSE 0 END AS bit) AS same
FROM #due AS d
CROSS JOIN #given AS g
OPTION (MAXDOP 1, LOOP JOIN)
