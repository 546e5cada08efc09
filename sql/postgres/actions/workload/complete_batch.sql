-- Complete many messages of the workload.
-- {complete_batch} function of the design
-- :ids             ids, as an array literal
-- :attempts        of each the attempt that pop gave, likewise
-- > done           how many were still in progress
SELECT c.done
FROM {complete_batch}(:ids, :attempts) AS c(done)
