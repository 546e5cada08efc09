-- Whether a queue is paused.
-- {pauses}   the queues that are paused
-- :queue     the queue
-- > queue    the queue; no row where it is not paused
SELECT queue_name AS queue FROM {pauses} WHERE queue_name = :queue
