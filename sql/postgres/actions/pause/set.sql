-- Sets a switch: the time until which the side is paused; a past time resumes. Takes effect at once in every session,
-- whether or not a transaction commits.
-- {switch}  the sequence that holds the end
-- :until_ms milliseconds since the epoch
-- > until_ms its current value
SELECT setval({switch!literal}::regclass, CAST(:until_ms AS bigint)) AS until_ms
