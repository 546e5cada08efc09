-- Workers take jobs from this queue again.
-- {pauses}   the queues that are paused
-- :queue     the queue
-- > queue    the queue; no row if it was not paused
DELETE FROM {pauses} WHERE queue_name = :queue RETURNING queue_name AS queue
