-- Whether a queue is paused.
-- {pauses}   the queues that are paused
-- :queue     the queue
-- > paused   whether it is
SELECT EXISTS (SELECT FROM {pauses} WHERE queue_name = :queue) AS paused
