-- Pop many messages, of a design that does not count attempts.
-- {pop_batch} procedure of the design
-- :limit      so many at most
-- > id        id
-- > payload   the message
EXEC {pop_batch} @limit = :limit
