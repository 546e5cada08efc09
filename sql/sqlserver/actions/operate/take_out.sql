-- Deletes rows from the trash that are back in the queue.
-- {table}      the queue's table
-- {trash}      qmon's table for that
-- {key!list}   columns: the key of a row
-- :rows        rows of the trash, XML
-- > done       number of removed rows
SET NOCOUNT ON;
DECLARE @rows xml = CAST(CAST(:rows AS nvarchar(max)) AS xml);
DELETE q
FROM {trash} AS q
WHERE q.qmon_row IN (SELECT r.n.value('@k', 'bigint') FROM @rows.nodes('/r') AS r(n))
    AND EXISTS (SELECT 1 FROM {table} AS t WHERE EXISTS (SELECT {key!list.t} INTERSECT SELECT {key!list.q}));
SELECT @@ROWCOUNT AS done
