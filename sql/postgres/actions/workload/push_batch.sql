-- Push many messages of the workload.
-- {push_batch} function of the design
-- :payloads    the messages, as an array literal
-- > pushed     number
SELECT CAST(count(*) AS integer) AS pushed
FROM {push_batch}(:payloads)
