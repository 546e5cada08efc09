-- Moves the other half of split messages into the trash: the rows of the second table that belong to those of the first.
-- {data_table}    the second table
-- {data_id}       column of the second table: the id
-- {trash}         qmon's table for that
-- {columns!list}  all columns of the second table
-- :keys           ids of the messages, XML
-- :operation      the operation
DECLARE @keys xml = CAST(CAST(:keys AS nvarchar(max)) AS xml);
DECLARE @operation varchar(40) = :operation;
DELETE q
OUTPUT @operation, {columns!list.deleted} INTO {trash} (qmon_operation, {columns!list})
FROM {data_table} AS q WITH (ROWLOCK)
WHERE q.{data_id} IN (SELECT r.n.value('@k', 'nvarchar(450)') FROM @keys.nodes('/r') AS r(n))
OPTION (RECOMPILE, MAXDOP 1)
