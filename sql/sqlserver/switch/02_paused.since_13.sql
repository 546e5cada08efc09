-- Stops a paused producer (@side 0) or consumer (@side 1): raises an error that allows a later retry (770001 for
-- producers, 770002 for consumers) with the end of the pause in UTC; or, if the session asked to wait, waits for the
-- end of the pause. push and pop call it before they take a number or touch a row. Because push and pop run with
-- XACT_ABORT ON, the error rolls back the caller's transaction. Pauses do not stop qmon's own actions.
-- The session's context, EXEC sp_set_session_context @key, @value:
--   N'qmon.pause_wait_ms'  maximum milliseconds to wait before the error; 60,000 at most, since the caller's
--                          transaction, if any, stays open.
-- {table}  the queue
-- {switch} ends of the pauses
-- {paused} the procedure
CREATE PROCEDURE {paused}
    @side tinyint
AS
BEGIN
    SET NOCOUNT ON;
    DECLARE @until datetime2(3), @stop datetime2(3), @wait_ms bigint, @number int, @text nvarchar(2000);
    IF APP_NAME() IN (N'qmon requeue', N'qmon repair', N'qmon undo') RETURN 0;
    SET @wait_ms = ISNULL(TRY_CAST(SESSION_CONTEXT(N'qmon.pause_wait_ms') AS bigint), 0);
    SET @wait_ms = CASE WHEN @wait_ms > 60000 THEN 60000 WHEN @wait_ms < 0 THEN 0 ELSE @wait_ms END;
    SET @stop = DATEADD(MILLISECOND, @wait_ms, SYSUTCDATETIME());
    WHILE 1 = 1
    BEGIN
        SET @until = (
            SELECT s.until_utc
            FROM {switch} AS s WITH (NOLOCK)
            WHERE s.side = @side
                AND s.until_utc > SYSUTCDATETIME()
        );
        IF @until IS NULL RETURN 0;
        IF SYSUTCDATETIME() >= @stop BREAK;
        WAITFOR DELAY '00:00:00.050';
    END;
    SET @number = CASE @side WHEN 0 THEN 770001 ELSE 770002 END;
    SET @text = CASE @side WHEN 0 THEN N'QM001: the producers of ' ELSE N'QM002: the consumers of ' END + {table!literal}
        + N' are paused until ' + CONVERT(nvarchar(19), @until, 120) + N' UTC; nothing was done, try again later';
    THROW @number, @text, 1;
END;
