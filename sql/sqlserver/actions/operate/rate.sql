-- The speed of earlier operations of a kind in this database: rows per second of their batches.
-- :kind        kind of the operation
-- :about       the table that it was done to
-- > rate       rows per second; NULL where too little was done to say
SELECT CASE WHEN SUM(o.done) >= 100 AND SUM(o.busy_s) > 0 THEN SUM(o.done) / SUM(o.busy_s) END AS rate
FROM (
    SELECT TOP (20) done, busy_s
    FROM qmon.operations
    WHERE kind = CAST(:kind AS varchar(40)) AND about = CAST(:about AS nvarchar(600)) AND busy_s > 0
    ORDER BY started_at DESC
) AS o
