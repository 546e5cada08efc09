-- What this session popped last within a transaction, for the case that the transaction was rolled back. Servers
-- before 2016 have no place where a session could keep it over a rollback, but what belongs to the application
-- (CONTEXT_INFO): there is none, and a message whose pop was rolled back waits for repair.
-- {memory} the procedure
CREATE PROCEDURE {memory}
    @side smallint,
    @number bigint OUTPUT,
    @keep bit = 0
AS
    IF @keep = 0 SET @number = NULL;
