-- Push one message; returns its id. @title NULL: the first 60 characters of the payload, which people then see in
-- lists.
-- A @queue_date_time (UTC) in the past puts the message before existing ones (the article's priority); NULL: now.
-- @quiet = 1: no result, for callers that take the id from @id.
-- Works in the caller's transaction or, without one, in its own. XACT_ABORT: an error rolls back the whole of it.
-- {table}  the queue
-- {push}   the procedure
-- {switch} ends of the pauses
-- {paused} procedure: waits or raises an error during a pause
-- > id     the message's id
CREATE PROCEDURE {push}
    @text_data nvarchar(max),
    @title nvarchar(255) = NULL,
    @queue_date_time datetime2(3) = NULL,
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
    INSERT INTO {table} WITH (ROWLOCK) (queue_date_time, title, text_data)
    VALUES (COALESCE(@queue_date_time, SYSUTCDATETIME()), COALESCE(@title, LEFT(@text_data, 60), N''), @text_data);
    SET @id = CONVERT(bigint, SCOPE_IDENTITY());
    IF @quiet = 0 SELECT @id AS id;
END;
