-- Workers take no more jobs from this queue, but finish the jobs that they have begun.
-- {pauses}   the queues that are paused
-- :queue     the queue
-- > queue    the queue; no row if it was already paused
INSERT INTO {pauses} (queue_name, created_at) VALUES (:queue, timezone('UTC', now()))
ON CONFLICT (queue_name) DO NOTHING
RETURNING queue_name AS queue
