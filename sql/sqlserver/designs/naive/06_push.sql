-- Push one message; returns its number. @quiet = 1: no result, for callers that take the number from @id.
-- Works in the caller's transaction or, without one, in its own. XACT_ABORT: an error rolls back the whole of it.
-- {table}  the queue
-- {push}   the procedure
-- {draw}   procedure: the next number
-- {switch} ends of the pauses
-- {paused} procedure: waits or raises an error during a pause
-- > id     the message's number
CREATE PROCEDURE {push}
    @message nvarchar(max),
    @id bigint = NULL OUTPUT,
    @quiet bit = 0
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    DECLARE @paused int;
    IF EXISTS (SELECT * FROM {switch} WITH (NOLOCK) WHERE side = 0 AND until_utc > SYSUTCDATETIME())
    BEGIN
        EXEC @paused = {paused} @side = 0;
        IF @paused <> 0 RETURN @paused;
    END;
    EXEC {draw} @number = @id OUTPUT;
    INSERT INTO {table} WITH (ROWLOCK) (message_id, time, message) VALUES (@id, SYSUTCDATETIME(), @message);
    IF @quiet = 0 SELECT @id AS id;
END;
