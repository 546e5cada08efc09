-- Locks the given requeued messages that were not popped since; skips rows locked by other sessions.
-- {kept}       changed rows as they were before
-- {table}      the queue's table
-- {key!list}   columns: the key of such a row, which does not change
-- {state}      column: the state
-- {since?}     column: when it was popped; NULL after a requeue
-- {owner?}     column: its consumer; NULL after a requeue
-- {attempts?}  column: number of pops
-- :rows        kept rows, XML
-- :operation   the requeue
-- > key        a kept row whose message has not changed since the requeue
-- > locked     true: we have locked it; false: another session has
SET NOCOUNT ON;
DECLARE @rows xml = CAST(CAST(:rows AS nvarchar(max)) AS xml);
DECLARE @operation varchar(40) = :operation;
DECLARE @same table (qmon_row bigint NOT NULL);
DECLARE @ours table (qmon_row bigint NOT NULL);
INSERT INTO @same (qmon_row)
SELECT k.qmon_row
FROM (
    SELECT qmon_row, qmon_operation, {state} AS qmon_state, {attempts?} AS qmon_attempts, {key!list}
    FROM {kept}
) AS k
WHERE k.qmon_operation = @operation
    AND k.qmon_row IN (SELECT r.n.value('@k', 'bigint') FROM @rows.nodes('/r') AS r(n))
    AND (
        SELECT COUNT_BIG(*)
        FROM {table} AS q WITH (FORCESEEK, NOLOCK)
        WHERE {key!on.k}
            AND q.{state} <> k.qmon_state
            AND {since?} IS NULL
            AND {owner?} IS NULL
            AND (k.qmon_attempts IS NULL OR {attempts?} = k.qmon_attempts)
    ) = 1;
INSERT INTO @ours (qmon_row)
SELECT k.qmon_row
FROM (
    SELECT qmon_row, qmon_operation, {state} AS qmon_state, {attempts?} AS qmon_attempts, {key!list}
    FROM {kept}
) AS k
CROSS APPLY (
    SELECT 1 AS one
    FROM {table} AS q WITH (FORCESEEK, UPDLOCK, ROWLOCK, READPAST, READCOMMITTEDLOCK)
    WHERE {key!on.k}
            AND q.{state} <> k.qmon_state
            AND {since?} IS NULL
            AND {owner?} IS NULL
            AND (k.qmon_attempts IS NULL OR {attempts?} = k.qmon_attempts)
) AS l
WHERE k.qmon_operation = @operation
    AND k.qmon_row IN (SELECT s.qmon_row FROM @same AS s);
SELECT CONVERT(nvarchar(20), s.qmon_row) AS [key], CAST(CASE WHEN o.qmon_row IS NOT NULL THEN 1 ELSE 0 END AS bit) AS locked
FROM @same AS s
LEFT JOIN @ours AS o ON o.qmon_row = s.qmon_row
