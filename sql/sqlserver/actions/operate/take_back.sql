-- Gives requeued messages that we have locked back what the requeue had changed.
-- {table}          the queue's table
-- {kept}           what was changed, as it was before
-- {id}             column: the id
-- {columns!set.k}  the columns that were changed
-- :keys            ids of the messages, XML
-- :operation       the operation that is undone
DECLARE @keys xml = CAST(CAST(:keys AS nvarchar(max)) AS xml);
DECLARE @operation varchar(40) = :operation;
UPDATE q
SET {columns!set.k}
FROM {table} AS q WITH (ROWLOCK)
JOIN {kept} AS k ON k.{id} = q.{id}
WHERE k.qmon_operation = @operation
    AND k.{id} IN (SELECT r.n.value('@k', 'nvarchar(450)') FROM @keys.nodes('/r') AS r(n))
