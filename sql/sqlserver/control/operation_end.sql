-- Writes how an operation ended.
-- :state  done, cancelled, interrupted or failed
-- :notes  what the operator should know, a JSON array
-- :id     the operation
UPDATE qmon.operations
SET state = CAST(:state AS varchar(20)), notes = CAST(:notes AS nvarchar(max)), ended_at = SYSUTCDATETIME()
WHERE id = CAST(:id AS varchar(40)) AND state = 'running'
