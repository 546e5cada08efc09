-- Pop many messages, of a design that counts attempts: their ids, the messages, and the number of the attempt. Some
-- designs return more columns.
-- {pop_batch} procedure of the design
-- :limit      maximum number of rows
EXEC {pop_batch} @limit = :limit
