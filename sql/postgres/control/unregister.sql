-- Removes a queue from the registry. Does not change its tables.
-- :queue  the queue's name
DELETE FROM qmon.queues WHERE queue = :queue
