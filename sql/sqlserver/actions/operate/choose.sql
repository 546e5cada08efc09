-- The messages that an action would change: for each message, the key and the version (state, time, owner and
-- attempts), so that the action leaves out rows that change in the meantime. Skips and counts locked rows.
-- {table}      the queue's table
-- {id?}        column: the id, which orders them
-- {key!list}   columns: the key of a row
-- {named!list} columns of :ids
-- {state?}     column: the state
-- {since?}     column: when it was popped, or pushed
-- {owner?}     column: its consumer
-- {lease?}     column: end of its lease
-- {beat?}      column: when its owner was last heard of
-- {attempts?}  column: number of pops
-- :ids         only these, XML; NULL: all
-- :some        whether :ids are given
-- :any_state   whether the state does not matter
-- :state       the state value
-- {holds!where} condition: texts in the message and its error
-- :cutoff      only messages popped or pushed until then; NULL: all
-- :from        only messages popped or pushed after that; NULL: all
-- :stuck       unless the owner is dead, only messages popped until then; NULL: all
-- :owner       only this owner's; NULL: all
-- :kind        kind of the owner: session, lease, heartbeat, name; none without an owner
-- :sees        whether our role can see other sessions
-- :vanished    whether a session that is gone proves that its consumer is dead
-- :timeout     seconds after which a heartbeat is stale
-- :wanted      the owner states to act on, XML
-- :limit       maximum number of rows
-- :chunk       number of keys per row of the result: here always one
-- > what       chosen, or the code of the reason why rows are left out
-- > count      number
-- > keys       the key of a chosen one
-- > versions   the row as it was
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
DECLARE @some bit = :some, @any_state bit = :any_state, @state nvarchar(200) = :state;
DECLARE @cutoff datetime2(6) = CAST(CAST(:cutoff AS datetimeoffset(6)) AS datetime2(6));
DECLARE @from datetime2(6) = CAST(CAST(:from AS datetimeoffset(6)) AS datetime2(6));
DECLARE @stuck datetime2(6) = CAST(CAST(:stuck AS datetimeoffset(6)) AS datetime2(6));
DECLARE @owner nvarchar(400) = :owner, @kind varchar(20) = :kind, @sees bit = :sees, @vanished bit = :vanished;
DECLARE @timeout float = :timeout;
DECLARE @stale datetime2(3) = DATEADD(MILLISECOND, -CAST((@timeout - FLOOR(@timeout)) * 1000 AS int),
                                      DATEADD(SECOND, -CAST(FLOOR(@timeout) AS int), SYSUTCDATETIME()));
DECLARE @wanted nvarchar(200) = :wanted, @limit bigint = :limit, @chunk int = :chunk, @all bigint;
SELECT @all = COUNT_BIG(*)
FROM {table} AS q WITH (NOLOCK)
WHERE (@some = 0 OR EXISTS (SELECT {named!list.i} FROM #ids AS i INTERSECT SELECT {named!list.q}))
    AND (@any_state = 1 OR {state?} = CAST(@state AS {state?!type}(200)))
    AND (@cutoff IS NULL OR {since?!utc} <= @cutoff)
    AND (@from IS NULL OR {since?!utc} > @from)
    AND {holds!where}
    AND (@owner IS NULL OR RTRIM(CONVERT(nvarchar(400), {owner?})) = @owner)
OPTION (RECOMPILE, MAXDOP 1);
WITH living AS (
    SELECT CONVERT(varchar(11), s.session_id) + '/' + CONVERT(varchar(23), s.login_time, 126) AS name
    FROM sys.dm_exec_sessions AS s
),
seen AS (
    SELECT {key!text.q}                                                                             AS qmon_key,
           COALESCE(CONVERT(nvarchar(100), {state?}) COLLATE Latin1_General_BIN2, N'') + N'|' + COALESCE(CONVERT(nvarchar(40), {since?}, 126), N'')
               + N'|' + COALESCE(RTRIM(CONVERT(nvarchar(200), {owner?}) COLLATE Latin1_General_BIN2), N'')
               + N'|' + COALESCE(CONVERT(nvarchar(20), {attempts?}), N'')                        AS qmon_version,
           {id?}                                                                                     AS qmon_id,
           {since?!moment}                                                                              AS qmon_since,
           CASE
               WHEN @kind = 'none' THEN 'none'
               WHEN {owner?} IS NULL THEN 'unknown'
               WHEN @kind = 'lease' THEN CASE WHEN {lease?!utc} < SYSUTCDATETIME() THEN 'dead' ELSE 'alive' END
               WHEN @kind = 'heartbeat' THEN CASE WHEN {beat?!utc} < @stale THEN 'dead' ELSE 'alive' END
               WHEN @kind = 'session' AND @sees = 1 AND CONVERT(nvarchar(200), {owner?}) LIKE N'[0-9]%/[12][0-9]%-%T%:%'
                   THEN CASE WHEN RTRIM(CONVERT(nvarchar(200), {owner?})) IN (SELECT v.name FROM living AS v) THEN 'alive'
                             WHEN @vanished = 1 THEN 'dead'
                             ELSE 'unknown' END
               ELSE 'unknown'
           END                                                                                       AS qmon_owner
    FROM {table} AS q WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK)
    WHERE (@some = 0 OR EXISTS (SELECT {named!list.i} FROM #ids AS i INTERSECT SELECT {named!list.q}))
        AND (@any_state = 1 OR {state?} = CAST(@state AS {state?!type}(200)))
        AND (@cutoff IS NULL OR {since?!utc} <= @cutoff)
        AND (@from IS NULL OR {since?!utc} > @from)
        AND {holds!where}
        AND (@owner IS NULL OR RTRIM(CONVERT(nvarchar(400), {owner?})) = @owner)
),
told AS (
    SELECT s.qmon_key, s.qmon_version, s.qmon_id,
           CASE WHEN @stuck IS NOT NULL AND s.qmon_owner <> 'dead' AND (s.qmon_since > @stuck OR s.qmon_since IS NULL)
                    THEN 'not_stuck'
                WHEN CHARINDEX('"' + s.qmon_owner + '"', @wanted) = 0 THEN 'owner_' + s.qmon_owner
                ELSE 'chosen' END                                                                    AS what
    FROM seen AS s
)
SELECT t.what, t.qmon_key, t.qmon_version, ROW_NUMBER() OVER (PARTITION BY t.what ORDER BY t.qmon_id) AS place,
       COUNT_BIG(*) OVER (PARTITION BY t.what) AS those, COUNT_BIG(*) OVER () AS every_one
INTO #placed
FROM told AS t
OPTION (RECOMPILE, MAXDOP 1);
SELECT p.what, CAST(1 AS bigint) AS count, p.qmon_key AS keys, p.qmon_version AS versions
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
UNION ALL
SELECT 'locked', @all - COALESCE((SELECT MAX(p.every_one) FROM #placed AS p), 0), NULL, NULL
WHERE @all > COALESCE((SELECT MAX(p.every_one) FROM #placed AS p), 0)
OPTION (MAXDOP 1)
