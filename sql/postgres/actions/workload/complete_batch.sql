-- Complete many messages of the workload.
-- {complete_batch} function of the design
-- :ids             ids, as an array literal
-- :attempts        the attempt of each, as pop returned it, the same way
-- > done           number of messages that were still in progress
SELECT c.done
FROM {complete_batch}(:ids, :attempts) AS c(done)
