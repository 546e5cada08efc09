-- Locks those of some requeued messages that nobody has popped since; passes over what others have locked.
-- {kept}       what was changed, as it was before
-- {table}      the queue's table
-- {id}         column: the id
-- {state}      column: the state
-- {since?}     column: when it was popped; NULL after a requeue
-- {owner?}     column: who popped it; NULL after a requeue
-- {attempts?}  column: how often it was popped
-- :keys        ids of the messages, XML
-- :operation   the operation that is undone
-- > key        the id of a message that is still what the requeue left
-- > locked     we have locked it; otherwise somebody else has
SET NOCOUNT ON;
DECLARE @keys xml = CAST(CAST(:keys AS nvarchar(max)) AS xml);
DECLARE @operation varchar(40) = :operation;
DECLARE @same table (qmon_key nvarchar(450) NOT NULL);
DECLARE @ours table (qmon_key nvarchar(450) NOT NULL);
INSERT INTO @same (qmon_key)
SELECT CONVERT(nvarchar(450), k.qmon_id)
FROM (
    SELECT qmon_operation, {id} AS qmon_id, {state} AS qmon_state, {attempts?} AS qmon_attempts
    FROM {kept}
) AS k
WHERE k.qmon_operation = @operation
    AND k.qmon_id IN (SELECT r.n.value('@k', 'nvarchar(450)') FROM @keys.nodes('/r') AS r(n))
    AND EXISTS (
        SELECT 1
        FROM {table} WITH (NOLOCK)
        WHERE {id} = k.qmon_id
            AND {state} <> k.qmon_state
            AND {since?} IS NULL
            AND {owner?} IS NULL
            AND (k.qmon_attempts IS NULL OR {attempts?} = k.qmon_attempts)
    );
INSERT INTO @ours (qmon_key)
SELECT CONVERT(nvarchar(450), k.qmon_id)
FROM (
    SELECT qmon_operation, {id} AS qmon_id, {state} AS qmon_state, {attempts?} AS qmon_attempts
    FROM {kept}
) AS k
CROSS APPLY (
    SELECT 1 AS one
    FROM {table} WITH (UPDLOCK, ROWLOCK, READPAST, READCOMMITTEDLOCK)
    WHERE {id} = k.qmon_id
            AND {state} <> k.qmon_state
            AND {since?} IS NULL
            AND {owner?} IS NULL
            AND (k.qmon_attempts IS NULL OR {attempts?} = k.qmon_attempts)
) AS q
WHERE k.qmon_operation = @operation
    AND k.qmon_id IN (SELECT s.qmon_key FROM @same AS s);
SELECT s.qmon_key AS [key], CAST(CASE WHEN o.qmon_key IS NOT NULL THEN 1 ELSE 0 END AS bit) AS locked
FROM @same AS s
LEFT JOIN @ours AS o ON o.qmon_key = s.qmon_key
