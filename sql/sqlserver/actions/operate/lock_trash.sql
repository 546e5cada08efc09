-- Locks the given rows of the trash that still exist; skips rows locked by other sessions.
-- {trash}      the trash
-- :rows        its rows, XML
-- :operation   the purge
-- > key        a row that is still there
-- > locked     true: we have locked it; false: another session has
SET NOCOUNT ON;
DECLARE @rows xml = CAST(CAST(:rows AS nvarchar(max)) AS xml);
DECLARE @operation varchar(40) = :operation;
DECLARE @ours table (qmon_row bigint NOT NULL);
INSERT INTO @ours (qmon_row)
SELECT q.qmon_row
FROM {trash} AS q WITH (UPDLOCK, ROWLOCK, READPAST, READCOMMITTEDLOCK)
WHERE q.qmon_operation = @operation
    AND q.qmon_row IN (SELECT r.n.value('@k', 'bigint') FROM @rows.nodes('/r') AS r(n));
SELECT CONVERT(nvarchar(20), s.qmon_row) AS [key], CAST(CASE WHEN o.qmon_row IS NOT NULL THEN 1 ELSE 0 END AS bit) AS locked
FROM {trash} AS s WITH (NOLOCK)
LEFT JOIN @ours AS o ON o.qmon_row = s.qmon_row
WHERE s.qmon_operation = @operation
    AND s.qmon_row IN (SELECT r.n.value('@k', 'bigint') FROM @rows.nodes('/r') AS r(n))
