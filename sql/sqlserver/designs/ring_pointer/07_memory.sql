-- What this session popped last within a transaction, for the case that the transaction was rolled back. Servers before
-- 2016 have no place where a session could keep it over a rollback, except CONTEXT_INFO, which belongs to the
-- application: there is none, and a message whose pop was rolled back waits for repair.
-- {memory} the procedure
CREATE PROCEDURE {memory}
    @side smallint,
    @number bigint OUTPUT,
    @keep bit = 0
AS
    IF @keep = 0 SET @number = NULL;
