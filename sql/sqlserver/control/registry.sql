-- The queues of the registry.
-- > queue    the queue's name
-- > layout   the layout as JSON text
-- > version  format of the layout
SELECT queue,
       layout,
       version
FROM qmon.queues
ORDER BY queue
