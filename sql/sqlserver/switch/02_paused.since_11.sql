-- Stops a paused producer (@side 0) or consumer (@side 1): raises an error that allows a later retry (770001 for
-- producers, 770002 for consumers) with the end of the pause in UTC. push and pop call it before they take a number or
-- touch a row. Because push and pop run with XACT_ABORT ON, the caller's transaction is rolled back. Pauses do not stop
-- qmon's own actions.
-- {table}  the queue
-- {switch} ends of the pauses
-- {paused} the procedure
CREATE PROCEDURE {paused}
    @side tinyint
AS
BEGIN
    SET NOCOUNT ON;
    DECLARE @until datetime2(3), @number int, @text nvarchar(2000);
    IF APP_NAME() IN (N'qmon requeue', N'qmon repair', N'qmon undo') RETURN 0;
    SET @until = (
        SELECT s.until_utc
        FROM {switch} AS s WITH (NOLOCK)
        WHERE s.side = @side
            AND s.until_utc > SYSUTCDATETIME()
    );
    IF @until IS NULL RETURN 0;
    SET @number = CASE @side WHEN 0 THEN 770001 ELSE 770002 END;
    SET @text = CASE @side WHEN 0 THEN N'QM001: the producers of ' ELSE N'QM002: the consumers of ' END + {table!literal}
        + N' are paused until ' + CONVERT(nvarchar(19), @until, 120) + N' UTC; nothing was done, try again later';
    THROW @number, @text, 1;
END;
