-- What this session popped last within a transaction, for the case that the transaction was rolled back: the pop is
-- undone then, but its number cannot be taken again, and the message would wait for repair. The session's next pop asks
-- here, and takes that message first. @keep = 1: remember @number.
-- In the session's context, which no rollback touches, and which a connection pool clears. If a transaction with
-- several pops is rolled back, all but the last number become orphans.
-- {table}  the ring
-- {memory} the procedure
CREATE PROCEDURE {memory}
    @side smallint,
    @number bigint OUTPUT,
    @keep bit = 0
AS
BEGIN
    SET NOCOUNT ON;
    DECLARE @name sysname;
    SET @name = N'qmon.pop.' + CONVERT(nvarchar(12), OBJECT_ID({table!literal})) + N'.' + CONVERT(nvarchar(6), @side);
    IF @keep = 1
        EXEC sys.sp_set_session_context @key = @name, @value = @number;
    ELSE
        SET @number = CONVERT(bigint, SESSION_CONTEXT(@name));
END;
