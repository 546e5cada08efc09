-- The queues of the registry.
-- > queue         the queue's name
-- > design        the design's name
-- > layout        the layout as JSON text
-- > version       format of the layout
-- > installed_by  the login that installed it
-- > installed_at  when, seconds since the epoch
SELECT queue,
       design,
       layout,
       version,
       installed_by,
       CAST(DATEDIFF_BIG(MILLISECOND, '1970-01-01', installed_at) / 1000.0 AS float)    AS installed_at
FROM qmon.queues
ORDER BY queue
