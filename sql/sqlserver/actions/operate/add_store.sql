-- Gives a new table for what an undo needs its number. Whoever adds one waits for others who do.
-- :kind        trash or kept
-- :about       the table whose rows it keeps
-- :structure   its columns as JSON
-- > store      its number
INSERT INTO qmon.stores WITH (TABLOCKX) (kind, about, structure)
OUTPUT inserted.store
VALUES (CAST(:kind AS varchar(20)), CAST(:about AS nvarchar(600)), CAST(:structure AS nvarchar(max)))
