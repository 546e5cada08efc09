-- Locks the given rows that have not changed since the plan; skips rows locked by other sessions.
-- {table}      the queue's table
-- {key!list}   columns: the key of a row
-- {state?}     column: the state
-- {since?}     column: when it was popped, or pushed
-- {owner?}     column: its consumer
-- {attempts?}  column: number of pops
-- :keys        keys of rows and the rows as they were, XML
-- > key        the key of a row that has not changed since the plan
-- > locked     true: we have locked it; false: another session has
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
DECLARE @ours table (qmon_key nvarchar(max) NOT NULL);
INSERT INTO @ours (qmon_key)
SELECT w.qmon_key
FROM #wanted AS w
CROSS APPLY (
    SELECT COALESCE(CONVERT(nvarchar(100), {state?}) COLLATE Latin1_General_BIN2, N'')
           + N'|' + COALESCE(CONVERT(nvarchar(40), {since?}, 126), N'')
           + N'|' + COALESCE(RTRIM(CONVERT(nvarchar(200), {owner?}) COLLATE Latin1_General_BIN2), N'')
           + N'|' + COALESCE(CONVERT(nvarchar(20), {attempts?}), N'') AS qmon_version
    FROM {table} AS q WITH (FORCESEEK, UPDLOCK, ROWLOCK, READPAST, READCOMMITTEDLOCK)
    WHERE {key!on.w}
) AS v
WHERE v.qmon_version COLLATE Latin1_General_BIN2 = w.qmon_version COLLATE Latin1_General_BIN2
OPTION (MAXDOP 1, LOOP JOIN);
SELECT o.qmon_key AS [key], CAST(1 AS bit) AS locked
FROM @ours AS o
UNION ALL
SELECT w.qmon_key, CAST(0 AS bit)
FROM #wanted AS w
CROSS APPLY (
    SELECT COALESCE(CONVERT(nvarchar(100), {state?}) COLLATE Latin1_General_BIN2, N'')
           + N'|' + COALESCE(CONVERT(nvarchar(40), {since?}, 126), N'')
           + N'|' + COALESCE(RTRIM(CONVERT(nvarchar(200), {owner?}) COLLATE Latin1_General_BIN2), N'')
           + N'|' + COALESCE(CONVERT(nvarchar(20), {attempts?}), N'') AS qmon_version
    FROM {table} AS q WITH (FORCESEEK, NOLOCK)
    WHERE {key!on.w}
) AS v
WHERE v.qmon_version COLLATE Latin1_General_BIN2 = w.qmon_version COLLATE Latin1_General_BIN2
    AND NOT EXISTS (
        SELECT 1 FROM @ours AS o WHERE o.qmon_key COLLATE Latin1_General_BIN2 = w.qmon_key COLLATE Latin1_General_BIN2
    )
OPTION (MAXDOP 1, LOOP JOIN)
