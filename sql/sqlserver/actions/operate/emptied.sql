-- Adds the rows that were emptied from the trash to the counter of an operation.
-- :done  rows
-- :id    the operation
-- > done  rows of qmon's table changed: 1, or 0
DECLARE @id varchar(40) = :id, @done bigint = :done;
EXEC qmon.operation_emptied @id = @id, @done = @done
