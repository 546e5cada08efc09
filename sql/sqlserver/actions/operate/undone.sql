-- Adds the rows that an undo restored to the counter of an operation, within the transaction of the undo's batch.
-- :done  rows
-- :id    the operation that is undone
-- > done  rows of qmon's table changed: 1, or 0
DECLARE @id varchar(40) = :id, @done bigint = :done;
EXEC qmon.operation_undone @id = @id, @done = @done
