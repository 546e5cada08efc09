-- Writes a queue into the registry, or anew the queue of that name on the same table. Touches no row where another
-- table already goes by that name: the caller must say so.
-- :queue   the queue's name
-- :design  the design's name
-- :layout  the layout as JSON
MERGE qmon.queues WITH (HOLDLOCK) AS known
USING (SELECT CAST(:queue AS nvarchar(128)) AS queue, CAST(:design AS nvarchar(64)) AS design,
              CAST(:layout AS nvarchar(max)) AS layout) AS given
ON known.queue = given.queue COLLATE Latin1_General_BIN2
WHEN MATCHED AND JSON_VALUE(known.layout, N'$.table') = JSON_VALUE(given.layout, N'$.table') THEN
    UPDATE SET design = given.design, layout = given.layout, version = 1,
               installed_by = ORIGINAL_LOGIN(), installed_at = SYSUTCDATETIME()
WHEN NOT MATCHED THEN
    INSERT (queue, design, layout) VALUES (given.queue, given.design, given.layout);
