-- Forgets what was kept of messages that were taken back.
-- {kept}  the table
-- :keys   where the rows lie, an array as text
DELETE FROM {kept} AS k
WHERE k.ctid = ANY (CAST(:keys AS tid[]))
