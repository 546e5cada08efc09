-- How many rows operations of qmon have changed: those under way, and those that ended in the last minute. Each batch
-- counts itself in its own transaction, so these counts are committed. Asked after the tables' counters.
-- > id            the operation
-- > about         the table
-- > kind          purge, requeue, redrive …; of an undo that of the operation that it undoes
-- > undoes        whether it is an undo
-- > in_progress   whether the rows were in progress before the operation, or before the one that it undoes
-- > done          rows so far
SELECT o.id,
       o.about,
       coalesce(u.kind, o.kind)  AS kind,
       o.undo_of IS NOT NULL     AS undoes,
       CAST(coalesce(u.frozen, o.frozen) AS text) LIKE '%"source": "in\_progress"%' AS in_progress,
       o.done
FROM qmon.operations AS o
LEFT JOIN qmon.operations AS u ON u.id = o.undo_of
WHERE o.started_at > clock_timestamp() - interval '1 day'
  AND (o.ended_at IS NULL OR o.ended_at > clock_timestamp() - interval '1 minute')
ORDER BY o.started_at DESC
LIMIT 100
