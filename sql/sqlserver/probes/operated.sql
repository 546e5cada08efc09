-- The number of rows that operations of qmon have changed: running operations, and operations that ended in the last
-- minute. Read after the tables' counters.
-- > id    the operation
-- > about the table
-- > done  rows so far
SELECT TOP (100)
    o.id,
    o.about,
    o.done
FROM qmon.operations AS o WITH (NOLOCK)
WHERE o.started_at > DATEADD(DAY, -1, SYSUTCDATETIME())
    AND (o.ended_at IS NULL OR o.ended_at > DATEADD(MINUTE, -1, SYSUTCDATETIME()))
ORDER BY o.started_at DESC
