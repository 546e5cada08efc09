-- Records that the pauses of one side of a table were lifted.
-- :about  the table
-- :side   producers or consumers
-- :by     the operator who ends the pause
-- > done  pauses
DECLARE @about nvarchar(600) = :about, @side varchar(10) = :side, @by nvarchar(400) = :by;
EXEC qmon.lift_pauses @about = @about, @side = @side, @by = @by
