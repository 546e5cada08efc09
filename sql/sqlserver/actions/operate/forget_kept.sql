-- Deletes the saved rows of messages that were restored.
-- {kept}  the table
-- :rows   its rows, XML
DECLARE @rows xml = CAST(CAST(:rows AS nvarchar(max)) AS xml);
DELETE FROM {kept}
WHERE qmon_row IN (SELECT r.n.value('@k', 'bigint') FROM @rows.nodes('/r') AS r(n))
