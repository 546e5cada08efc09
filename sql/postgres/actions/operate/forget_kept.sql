-- Forgets what was kept of messages that were taken back.
-- {kept}  the table
-- :tids   where the rows lie, an array as text
DELETE FROM {kept} AS k
WHERE k.ctid = ANY (CAST(:tids AS tid[]))
