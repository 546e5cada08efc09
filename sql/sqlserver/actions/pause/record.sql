-- Records a pause. It replaces a current pause of the same side of the same table. The switch is set in the same
-- transaction: see set.
-- {switch}  the table that holds the end
-- :queue    the queue's name
-- :about    its table
-- :side     producers or consumers
-- :until_ms when it ends, milliseconds since the epoch
-- :by       the operator who pauses
-- :reason   why
-- :way      switch or gate
DECLARE @queue nvarchar(128), @about nvarchar(600), @side varchar(10), @by nvarchar(400), @until_ms bigint;
DECLARE @until datetime2(3), @reason nvarchar(max), @way varchar(10), @switch nvarchar(600) = {switch!literal};
SELECT @queue = :queue, @about = :about, @side = :side, @by = :by, @until_ms = :until_ms, @reason = :reason, @way = :way;
SET @until = DATEADD(MINUTE, @until_ms / 60000, CONVERT(datetime2(3), '19700101'));
SET @until = DATEADD(MILLISECOND, @until_ms % 60000, @until);
EXEC qmon.lift_pauses @about = @about, @side = @side, @by = @by;
EXEC qmon.record_pause @queue = @queue, @about = @about, @side = @side, @switch = @switch, @until = @until, @by = @by,
                       @reason = @reason, @way = @way
