-- Pops a batch and hands its messages out.
-- {pop_batch} procedure of the design
-- :limit      so many at most
EXEC {pop_batch} @limit = :limit
