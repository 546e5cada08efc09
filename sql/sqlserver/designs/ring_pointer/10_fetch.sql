-- Take the payload of message @number away. The caller has its pointer: no other session wants it.
-- {data_0} payloads of numbers divisible by 4
-- {data_1} payloads of numbers with remainder 1
-- {data_2} payloads of numbers with remainder 2
-- {data_3} payloads of numbers with remainder 3
-- {fetch}  the procedure
CREATE PROCEDURE {fetch}
    @number bigint,
    @message nvarchar(max) OUTPUT
AS
BEGIN
    SET NOCOUNT ON;
    DECLARE @found TABLE (message nvarchar(max) NOT NULL);
    IF @number % 4 = 0
        DELETE FROM {data_0} WITH (ROWLOCK)
        OUTPUT deleted.message INTO @found (message)
        WHERE message_id = @number
        OPTION (MAXDOP 1, KEEPFIXED PLAN);
    ELSE IF @number % 4 = 1
        DELETE FROM {data_1} WITH (ROWLOCK)
        OUTPUT deleted.message INTO @found (message)
        WHERE message_id = @number
        OPTION (MAXDOP 1, KEEPFIXED PLAN);
    ELSE IF @number % 4 = 2
        DELETE FROM {data_2} WITH (ROWLOCK)
        OUTPUT deleted.message INTO @found (message)
        WHERE message_id = @number
        OPTION (MAXDOP 1, KEEPFIXED PLAN);
    ELSE
        DELETE FROM {data_3} WITH (ROWLOCK)
        OUTPUT deleted.message INTO @found (message)
        WHERE message_id = @number
        OPTION (MAXDOP 1, KEEPFIXED PLAN);
    SET @message = (SELECT f.message FROM @found AS f);
END;
