-- Complete a message of the workload.
-- {complete} procedure of the design
-- :id        its id
-- :attempt   the attempt that pop gave
-- > done     1, or 0 if it is no longer ours
EXEC {complete} @id = :id, @attempt = :attempt
