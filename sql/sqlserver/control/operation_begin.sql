-- Records the start of an operation.
-- :id         its id
-- :kind       kind of the operation
-- :queue      the queue's name
-- :about      the table, slot or session
-- :by         the operator
-- :reason     why
-- :predicate  selected rows, in words
-- :frozen     the frozen values as JSON
-- :planned    number of rows that the plan counted
-- :undo_of    the operation that it undoes
-- :undoable   whether it can be undone
DECLARE @id varchar(40) = :id, @kind varchar(40) = :kind, @queue nvarchar(128) = :queue, @about nvarchar(600) = :about;
DECLARE @by nvarchar(400) = :by, @reason nvarchar(max) = :reason, @predicate nvarchar(max) = :predicate;
DECLARE @frozen nvarchar(max) = :frozen, @planned bigint = :planned, @undo_of varchar(40) = :undo_of, @undoable bit = :undoable;
EXEC qmon.operation_begin @id = @id, @kind = @kind, @queue = @queue, @about = @about, @by = @by, @reason = @reason,
                          @predicate = @predicate, @frozen = @frozen, @planned = @planned, @undo_of = @undo_of,
                          @undoable = @undoable
