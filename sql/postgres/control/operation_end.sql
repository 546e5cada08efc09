-- Writes how an operation ended.
-- :state  done, cancelled, interrupted or failed
-- :notes  what the operator should know, a JSON array
-- :id     the operation
UPDATE qmon.operations
SET state = :state, notes = CAST(:notes AS json), ended_at = clock_timestamp()
WHERE id = :id AND state = 'running'
