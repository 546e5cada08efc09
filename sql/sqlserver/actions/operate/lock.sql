-- Locks those of some rows that are still what the plan saw; passes over what others have locked.
-- {table}      the queue's table
-- {id?}        column: the id
-- {state?}     column: the state
-- {since?}     column: when it was popped, or pushed
-- {owner?}     column: who popped it
-- {attempts?}  column: how often it was popped
-- :keys        ids of rows and what they looked like, XML
-- > key        the id of a row that is still what the plan saw
-- > locked     we have locked it; otherwise somebody else has
SET NOCOUNT ON;
DECLARE @keys xml = CAST(CAST(:keys AS nvarchar(max)) AS xml);
DECLARE @wanted table (qmon_key nvarchar(450) NOT NULL, qmon_version nvarchar(450) NOT NULL);
INSERT INTO @wanted (qmon_key, qmon_version)
SELECT r.n.value('@k', 'nvarchar(450)'), r.n.value('@v', 'nvarchar(450)')
FROM @keys.nodes('/r') AS r(n);
DECLARE @ours table (qmon_key nvarchar(450) NOT NULL);
INSERT INTO @ours (qmon_key)
SELECT w.qmon_key
FROM (
    SELECT CONVERT(nvarchar(450), {id?}) AS qmon_key,
           COALESCE(CONVERT(nvarchar(100), {state?}), N'') + N'|' + COALESCE(CONVERT(nvarchar(40), {since?}, 126), N'')
               + N'|' + COALESCE(RTRIM(CONVERT(nvarchar(200), {owner?})), N'')
               + N'|' + COALESCE(CONVERT(nvarchar(20), {attempts?}), N'') AS qmon_version
    FROM {table} WITH (UPDLOCK, ROWLOCK, READPAST, READCOMMITTEDLOCK)
    WHERE {id?} IN (SELECT w.qmon_key FROM @wanted AS w)
) AS q
JOIN @wanted AS w ON w.qmon_key = q.qmon_key AND w.qmon_version = q.qmon_version
OPTION (RECOMPILE, MAXDOP 1);
SELECT w.qmon_key AS [key], CAST(CASE WHEN o.qmon_key IS NOT NULL THEN 1 ELSE 0 END AS bit) AS locked
FROM @wanted AS w
LEFT JOIN @ours AS o ON o.qmon_key = w.qmon_key
WHERE o.qmon_key IS NOT NULL
    OR EXISTS (
        SELECT 1
        FROM (
            SELECT CONVERT(nvarchar(450), {id?}) AS qmon_key,
                   COALESCE(CONVERT(nvarchar(100), {state?}), N'') + N'|' + COALESCE(CONVERT(nvarchar(40), {since?}, 126), N'')
               + N'|' + COALESCE(RTRIM(CONVERT(nvarchar(200), {owner?})), N'')
               + N'|' + COALESCE(CONVERT(nvarchar(20), {attempts?}), N'') AS qmon_version
            FROM {table} WITH (NOLOCK)
            WHERE {id?} = w.qmon_key
        ) AS q
        WHERE q.qmon_version = w.qmon_version
    )
