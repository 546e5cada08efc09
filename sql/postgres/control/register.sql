-- Writes a queue into the registry, or updates the queue with that name on the same table. Changes no row if another
-- table already has that name: the caller must report it.
-- :queue   the queue's name
-- :design  the design's name
-- :layout  the layout as JSON
INSERT INTO qmon.queues AS known (queue, design, layout)
VALUES (:queue, :design, CAST(:layout AS json))
ON CONFLICT (queue) DO UPDATE
SET design = excluded.design, layout = excluded.layout, version = excluded.version,
    installed_by = session_user, installed_at = now()
WHERE known.layout ->> 'table' = excluded.layout ->> 'table'
