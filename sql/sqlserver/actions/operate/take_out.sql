-- Takes rows out of the trash that are back in the queue.
-- {table}      the queue's table
-- {trash}      qmon's table for that
-- {key!list}   columns: what makes a row known
-- :rows        rows of the trash, XML
-- > done       how many were taken out
SET NOCOUNT ON;
DECLARE @rows xml = CAST(CAST(:rows AS nvarchar(max)) AS xml);
DELETE q
FROM {trash} AS q
WHERE q.qmon_row IN (SELECT r.n.value('@k', 'bigint') FROM @rows.nodes('/r') AS r(n))
    AND EXISTS (SELECT 1 FROM {table} AS t WHERE EXISTS (SELECT {key!list.t} INTERSECT SELECT {key!list.q}));
SELECT @@ROWCOUNT AS done
