-- Pops a batch and returns its messages.
-- {pop_batch} procedure of the design
-- :limit      maximum number of rows
EXEC {pop_batch} @limit = :limit
