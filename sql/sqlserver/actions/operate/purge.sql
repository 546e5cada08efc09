-- Moves rows that we have locked into the trash, in one statement.
-- {table}         the queue's table
-- {trash}         qmon's table for that
-- {id}            column: the id
-- {columns!list}  all its columns
-- :keys           ids of the rows, XML
-- :operation      the operation
DECLARE @keys xml = CAST(CAST(:keys AS nvarchar(max)) AS xml);
DECLARE @operation varchar(40) = :operation;
DELETE q
OUTPUT @operation, {columns!list.deleted} INTO {trash} (qmon_operation, {columns!list})
FROM {table} AS q WITH (ROWLOCK)
WHERE q.{id} IN (SELECT r.n.value('@k', 'nvarchar(450)') FROM @keys.nodes('/r') AS r(n))
OPTION (RECOMPILE, MAXDOP 1)
