-- Complete a message of the workload.
-- {complete} function of the design
-- :id        its id
-- :attempt   the attempt that pop gave
-- > done     1, or 0 if it is no longer ours
SELECT CAST(c.done AS integer) AS done
FROM {complete}(:id, :attempt) AS c(done)
