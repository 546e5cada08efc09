-- Pop many messages, of a design that does not count attempts.
-- {pop_batch} procedure of the design
-- :limit      maximum number of rows
-- > id        id
-- > payload   the message
EXEC {pop_batch} @limit = :limit
