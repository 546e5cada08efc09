-- Move processed messages to the archive.
-- {archive} procedure of the design
-- :limit    so many at most
-- > moved   how many
EXEC {archive} @limit = :limit
