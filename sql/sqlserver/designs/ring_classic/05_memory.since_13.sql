-- The number that this session has taken and still waits with: @keep = 1 remembers @number (NULL: none any more),
-- otherwise it is returned. In the session's context. An addition: the article's client waits forever instead of coming
-- back.
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
    SET @name = N'qmon.' + CONVERT(nvarchar(12), OBJECT_ID({table!literal})) + N'.' + CONVERT(nvarchar(6), @side);
    IF @keep = 1
        EXEC sys.sp_set_session_context @key = @name, @value = @number;
    ELSE
        SET @number = CONVERT(bigint, SESSION_CONTEXT(@name));
END;
