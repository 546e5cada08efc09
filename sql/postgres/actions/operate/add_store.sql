-- Gives a new table for what an undo needs its number. Whoever adds one waits for others who do.
-- :kind        trash or kept
-- :about       the table whose rows it keeps
-- :structure   its columns as JSON
-- > store      its number
WITH alone AS MATERIALIZED (
    SELECT pg_advisory_xact_lock(hashtext('qmon stores')) IS NULL AS nothing
)
INSERT INTO qmon.stores (kind, about, structure)
SELECT :kind, :about, :structure
FROM alone
RETURNING store
