-- Forgets what was kept of messages that were taken back.
-- {kept}      the table
-- {id}        column: the id
-- :keys       ids of the messages, XML
-- :operation  the operation that is undone
DECLARE @keys xml = CAST(CAST(:keys AS nvarchar(max)) AS xml);
DELETE FROM {kept}
WHERE qmon_operation = CAST(:operation AS varchar(40))
    AND {id} IN (SELECT r.n.value('@k', 'nvarchar(450)') FROM @keys.nodes('/r') AS r(n))
