-- Pops a batch and hands its messages out.
-- {pop_batch} procedure of the design
-- :limit      maximum number of rows
EXEC {pop_batch} @limit = :limit
