-- Sets a switch: until when its side is paused; a time that is over resumes. Counts at once, for every session, and
-- whether or not a transaction commits.
-- {switch}  the sequence that holds the end
-- :until_ms milliseconds since the epoch
-- > until_ms its current value
SELECT setval({switch!literal}::regclass, CAST(:until_ms AS bigint)) AS until_ms
