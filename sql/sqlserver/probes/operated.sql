-- How many rows operations of qmon have changed: those under way, and those that ended in the last minute. Asked after
-- the tables' counters.
-- > id            the operation
-- > about         the table
-- > kind          purge, requeue, redrive …; of an undo that of the operation that it undoes
-- > undoes        whether it is an undo
-- > in_progress   whether the rows were in progress before the operation, or before the one that it undoes
-- > done          rows so far
SELECT TOP (100)
    o.id,
    o.about,
    COALESCE(u.kind, o.kind) AS kind,
    CAST(CASE WHEN o.undo_of IS NULL THEN 0 ELSE 1 END AS bit) AS undoes,
    CAST(CASE WHEN COALESCE(u.frozen, o.frozen) LIKE N'%"source": "in[_]progress"%' THEN 1 ELSE 0 END AS bit) AS in_progress,
    o.done
FROM qmon.operations AS o WITH (NOLOCK)
LEFT JOIN qmon.operations AS u WITH (NOLOCK) ON u.id = o.undo_of
WHERE o.started_at > DATEADD(DAY, -1, SYSUTCDATETIME())
    AND (o.ended_at IS NULL OR o.ended_at > DATEADD(MINUTE, -1, SYSUTCDATETIME()))
ORDER BY o.started_at DESC
