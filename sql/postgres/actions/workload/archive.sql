-- Move processed messages to the archive.
-- {archive} function of the design
-- :limit    so many at most
-- > moved   how many
SELECT a.moved
FROM {archive}(:limit) AS a(moved)
