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
       DATEDIFF(DAY, '1970-01-01', installed_at) * CAST(86400 AS float)
           + DATEDIFF(MILLISECOND, CAST(installed_at AS date), installed_at) / CAST(1000 AS float) AS installed_at
FROM qmon.queues
ORDER BY queue
