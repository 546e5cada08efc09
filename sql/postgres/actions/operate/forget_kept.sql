-- Forgets what was kept of messages that were taken back.
-- {kept}  the table
-- :rows   its rows, an array as text
DELETE FROM {kept} AS k
WHERE k.qmon_row = ANY (CAST(:rows AS bigint[]))
