-- Push one message; returns its id. The article's usp_enqueuePending.
-- @quiet = 1: no result, for callers that take the id from @id. SCOPE_IDENTITY(), because @@IDENTITY may come from a
-- trigger.
-- @due_time is UTC; NULL: now. It is never popped before that.
-- Works in the caller's transaction or, without one, in its own. XACT_ABORT: an error rolls back the whole of it.
-- {table}  the queue
-- {push}   the procedure
-- {switch} ends of the pauses
-- {paused} procedure: waits or raises an error during a pause
-- > id     the message's id
CREATE PROCEDURE {push}
    @payload varbinary(max),
    @due_time datetime2(3) = NULL,
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
    INSERT INTO {table} WITH (ROWLOCK) (due_time, payload) VALUES (COALESCE(@due_time, SYSUTCDATETIME()), @payload);
    SET @id = CONVERT(bigint, SCOPE_IDENTITY());
    IF @quiet = 0 SELECT @id AS id;
END;
