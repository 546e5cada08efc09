-- Pop many messages, of a design that counts attempts: their ids, the messages, and which attempt this is; some designs
-- say more.
-- {pop_batch} procedure of the design
-- :limit      maximum number of rows
EXEC {pop_batch} @limit = :limit
