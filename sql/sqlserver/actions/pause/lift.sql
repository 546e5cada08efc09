-- Records that the pauses of one side of a table were lifted.
-- :about  the table
-- :side   pushers or poppers
-- :by     who lifts
UPDATE qmon.pauses
SET lifted_at = SYSUTCDATETIME(), lifted_by = :by
WHERE lifted_at IS NULL
    AND about = :about
    AND side = :side
    AND until > SYSUTCDATETIME()
