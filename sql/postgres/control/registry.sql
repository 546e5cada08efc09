-- The queues of the registry.
-- > queue         the queue's name
-- > design        the design's name
-- > layout        the layout as JSON text
-- > version       format of the layout
-- > installed_by  the role that installed it
-- > installed_at  when, seconds since the epoch
SELECT queue,
       design,
       CAST(layout AS text)                                             AS layout,
       version,
       installed_by,
       CAST(extract(epoch FROM installed_at) AS double precision)       AS installed_at
FROM qmon.queues
ORDER BY queue
