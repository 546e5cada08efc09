-- Records a pause, in place of one of the same side of the same table that is not over. The switch is set in the same
-- transaction: see set.
-- {switch}  the table that holds the end
-- :queue    the queue's name
-- :about    its table
-- :side     pushers or poppers
-- :until_ms when it ends, milliseconds since the epoch
-- :by       who pauses
-- :reason   why
-- :way      switch or gate
DECLARE @about nvarchar(600), @side varchar(10), @by nvarchar(400), @until_ms bigint, @until datetime2(3);
SELECT @about = :about, @side = :side, @by = :by, @until_ms = :until_ms;
SET @until = DATEADD(MINUTE, @until_ms / 60000, CONVERT(datetime2(3), '19700101'));
SET @until = DATEADD(MILLISECOND, @until_ms % 60000, @until);
UPDATE qmon.pauses
SET lifted_at = SYSUTCDATETIME(), lifted_by = @by
WHERE lifted_at IS NULL
    AND about = @about
    AND side = @side
    AND until > SYSUTCDATETIME();
INSERT INTO qmon.pauses (queue, about, side, switch, until, [by], reason, way)
VALUES (:queue, @about, @side, {switch!literal}, @until, @by, :reason, :way);
