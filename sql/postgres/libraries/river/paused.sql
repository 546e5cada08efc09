-- Whether a queue is paused.
-- {river_queue}  the queues that its workers have taken from
-- :queue     the queue
-- > paused   whether it is; no row for a queue that no worker has taken from
SELECT paused_at IS NOT NULL AS paused FROM {river_queue} WHERE name = :queue
