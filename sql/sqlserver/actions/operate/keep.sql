-- Keeps what a requeue is about to change, for its undo.
-- {kept}       qmon's table for that
-- {table}      the queue's table
-- {id}            column: the id
-- {columns!list}  its id and the columns that change
-- :operation   the operation
-- :keys        ids of the rows, XML
SET NOCOUNT ON;
DECLARE @keys xml = CAST(CAST(:keys AS nvarchar(max)) AS xml);
INSERT INTO {kept} (qmon_operation, {columns!list})
SELECT CAST(:operation AS varchar(40)), {columns!list.q}
FROM {table} AS q
WHERE q.{id} IN (SELECT r.n.value('@k', 'nvarchar(450)') FROM @keys.nodes('/r') AS r(n))
