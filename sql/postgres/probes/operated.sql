-- The number of rows that operations of qmon have changed: running operations, and operations that ended in the last
-- minute. Each batch adds its count in its own transaction, so these counts are committed. Read after the tables'
-- counters.
-- > id    the operation
-- > about the table
-- > done  rows so far
SELECT
    o.id,
    o.about,
    o.done
FROM qmon.operations AS o
WHERE o.started_at > clock_timestamp() - interval '1 day'
    AND (o.ended_at IS NULL OR o.ended_at > clock_timestamp() - interval '1 minute')
ORDER BY o.started_at DESC
LIMIT 100
