-- Records the end and the result of an operation.
-- :state  done, cancelled, interrupted or failed
-- :notes  notes for the operator, a JSON array
-- :id     the operation
-- > done  rows of qmon's table changed: 1, or 0
DECLARE @id varchar(40) = :id, @state varchar(20) = :state, @notes nvarchar(max) = :notes;
EXEC qmon.operation_end @id = @id, @state = @state, @notes = @notes
