-- Requeues rows that we have locked: ready at their old place, which is the front, or dead after too many attempts.
-- {table}          the queue's table
-- {id}             column: the id
-- {state}          column: the state
-- {attempts?}      column: how often it was popped
-- {cleared!nulls}  columns that say who popped it and when
-- :ready_value     the state of a ready message
-- :dead_value      the state of a dead one
-- :max_attempts    after so many attempts it is dead; NULL: never
-- :keys            ids of the rows, XML
DECLARE @keys xml = CAST(CAST(:keys AS nvarchar(max)) AS xml);
DECLARE @ready nvarchar(200) = :ready_value, @dead nvarchar(200) = :dead_value, @most int = :max_attempts;
UPDATE {table} WITH (ROWLOCK)
SET {state} = CASE WHEN {attempts?} >= @most THEN @dead ELSE @ready END{cleared!nulls}
WHERE {id} IN (SELECT r.n.value('@k', 'nvarchar(450)') FROM @keys.nodes('/r') AS r(n))
OPTION (RECOMPILE, MAXDOP 1)
