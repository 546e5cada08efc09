-- Move processed messages to the archive.
-- {archive} procedure of the design
-- :limit    maximum number of rows
-- > moved   number
EXEC {archive} @limit = :limit
