-- Deletes the saved rows of messages that were restored.
-- {kept}  the table
-- :rows   its rows, an array as text
DELETE FROM {kept} AS k
WHERE k.qmon_row = ANY (CAST(:rows AS bigint[]))
