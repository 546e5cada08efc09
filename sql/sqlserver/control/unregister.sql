-- Takes a queue out of the registry; its tables are not touched.
-- :queue  the queue's name
DELETE FROM qmon.queues WHERE queue = :queue
