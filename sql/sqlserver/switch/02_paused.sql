-- Stops a paused producer (@side 0) or consumer (@side 1): raises an error that can be retried later, with the end of
-- the pause in UTC. Called by push and pop, which have then taken no number and touched no row; returns 1 if they must
-- stop. Servers before 2012 have no THROW, and RAISERROR no numbers of its own: error 50000 whose text begins with
-- QM001 for producers, QM002 for consumers, and whose state is 1 or 2. The caller's transaction, if any, goes on.
-- Pauses do not stop qmon's own actions.
-- {table}  the queue
-- {switch} ends of the pauses
-- {paused} the procedure
CREATE PROCEDURE {paused}
    @side tinyint
AS
BEGIN
    SET NOCOUNT ON;
    DECLARE @until datetime2(3), @who nvarchar(10), @code nvarchar(5), @end nvarchar(20), @queue nvarchar(600);
    IF APP_NAME() IN (N'qmon requeue', N'qmon repair', N'qmon undo') RETURN 0;
    SET @until = (
        SELECT s.until_utc
        FROM {switch} AS s WITH (NOLOCK)
        WHERE s.side = @side
            AND s.until_utc > SYSUTCDATETIME()
    );
    IF @until IS NULL RETURN 0;
    SELECT @who = CASE @side WHEN 0 THEN N'producers' ELSE N'consumers' END,
        @code = CASE @side WHEN 0 THEN N'QM001' ELSE N'QM002' END,
        @end = CONVERT(nvarchar(19), @until, 120),
        @queue = {table!literal};
    IF @side = 0
        RAISERROR (N'%s: the %s of %s are paused until %s UTC; nothing was done, try again later', 16, 1,
            @code, @who, @queue, @end);
    ELSE
        RAISERROR (N'%s: the %s of %s are paused until %s UTC; nothing was done, try again later', 16, 2,
            @code, @who, @queue, @end);
    RETURN 1;
END;
