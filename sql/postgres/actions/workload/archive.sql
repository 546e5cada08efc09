-- Move processed messages to the archive.
-- {archive} function of the design
-- :limit    maximum number of rows
-- > moved   number
SELECT a.moved
FROM {archive}(:limit) AS a(moved)
