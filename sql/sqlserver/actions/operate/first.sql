-- The first of the chosen messages, to show to people. The server shortens payloads.
-- {table}      the queue's table
-- {key!list}   columns: the key of a row
-- {called!text} columns: the name of a message
-- {state?}     column: the state
-- {since?}     column: when it was popped, or pushed
-- {owner?}     column: its consumer
-- {attempts?}  column: number of pops
-- {payload?}   column: the message
-- {error?}     column: its last error
-- :keys        positions of the rows, XML
-- > key        position of the row
-- > id         id as text
-- > state      state value as text
-- > age_s      seconds
-- > owner      its consumer
-- > attempts   number of pops
-- > payload    its first characters, bytes as hex digits; only its size if it is large
-- > error      the end of its last error
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
SELECT v.*
FROM #wanted AS w
CROSS APPLY (
    SELECT {key!text.q}                                                       AS [key],
           {called!text.q}                                                    AS id,
           CONVERT(nvarchar(100), {state?})                                   AS state,
           CAST(DATEDIFF(DAY, {since?!moment}, SYSUTCDATETIME()) * 86400.0
               + DATEDIFF(MILLISECOND, DATEADD(DAY, DATEDIFF(DAY, {since?!moment}, SYSUTCDATETIME()), {since?!moment}), SYSUTCDATETIME()) / 1000.0 AS float)    AS age_s,
           RTRIM(CONVERT(nvarchar(400), {owner?}))                            AS owner,
           CONVERT(int, {attempts?})                                          AS attempts,
           CASE WHEN DATALENGTH({payload?}) > 65536
                THEN CONVERT(nvarchar(20), DATALENGTH({payload?}) / 1024) + N' kB'
                ELSE LEFT(CONVERT(nvarchar(max), {payload?!read}, 1), 200) END     AS payload,
           {error?!newest}                                                    AS error
    FROM {table} AS q WITH (FORCESEEK, ROWLOCK, READPAST, READCOMMITTEDLOCK)
    WHERE {key!on.w}
) AS v
OPTION (MAXDOP 1, LOOP JOIN)
