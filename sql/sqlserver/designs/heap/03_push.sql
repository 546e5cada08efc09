-- Push one message; returns the number of pushed messages: 1. The article's usp_enqueueHeap. A heap's messages have no
-- id.
-- @quiet = 1: no result.
-- Works in the caller's transaction or, without one, in its own. XACT_ABORT: an error rolls back the whole of it.
-- {table}  the queue
-- {push}   the procedure
-- {switch} ends of the pauses
-- {paused} procedure: waits or raises an error during a pause
-- > id     1
CREATE PROCEDURE {push}
    @payload varbinary(max),
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
    INSERT INTO {table} WITH (ROWLOCK) (payload) VALUES (@payload);
    SET @id = 1;
    IF @quiet = 0 SELECT @id AS id;
END;
