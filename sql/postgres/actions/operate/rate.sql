-- The speed of earlier operations of a kind in this database: rows per second of their batches.
-- :kind        kind of the operation
-- :about       the table that it was done to
-- > rate       rows per second; NULL where too little was done to say
SELECT CASE WHEN sum(o.done) >= 100 AND sum(o.busy_s) > 0 THEN sum(o.done) / sum(o.busy_s) END AS rate
FROM (
    SELECT done, busy_s
    FROM qmon.operations
    WHERE kind = :kind AND about = :about AND busy_s > 0
    ORDER BY started_at DESC
    LIMIT 20
) AS o
