-- Writes a queue into the registry, or updates the queue with that name on the same table. Changes no row if another
-- table already has that name: the caller must report it.
-- JSON_VALUE came with 2016, and this runs on 2012. It compares the text from "table" up to "design", which follows it
-- in every layout that qmon writes. Neither is ever part of a name: a quote inside a string of JSON has a backslash
-- before it.
-- :queue   the queue's name
-- :design  the design's name
-- :layout  the layout as JSON
MERGE qmon.queues WITH (HOLDLOCK) AS known
USING (
    SELECT g.queue, g.design, g.layout,
           SUBSTRING(g.layout, CHARINDEX(N'"table": ', g.layout),
                     CHARINDEX(N', "design": ', g.layout) - CHARINDEX(N'"table": ', g.layout) + 11) AS place
    FROM (
        SELECT CAST(:queue AS nvarchar(128)) AS queue, CAST(:design AS nvarchar(64)) AS design,
               CAST(:layout AS nvarchar(max)) AS layout
    ) AS g
) AS given
ON known.queue = given.queue COLLATE Latin1_General_BIN2
WHEN MATCHED AND CHARINDEX(given.place, known.layout) > 0 THEN
    UPDATE SET design = given.design, layout = given.layout, version = 1,
               installed_by = ORIGINAL_LOGIN(), installed_at = SYSUTCDATETIME()
WHEN NOT MATCHED THEN
    INSERT (queue, design, layout) VALUES (given.queue, given.design, given.layout);
