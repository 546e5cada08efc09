-- Push many messages; returns their numbers, in the order of positions. An addition: the article pushes one at a time.
-- Without sequences one number after the other is taken.
-- {push_batch} the procedure
-- {messages}   type: the messages
-- {push}       procedure: push one message
-- {switch}     ends of the pauses
-- {paused}     procedure: waits or raises an error during a pause
-- > id         the message's number
CREATE PROCEDURE {push_batch}
    @messages {messages} READONLY
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
    DECLARE @ids TABLE (id bigint NOT NULL);
    DECLARE @position int, @payload nvarchar(max), @id bigint;
    BEGIN TRANSACTION;
    SELECT TOP (1) @position = m.position, @payload = m.payload FROM @messages AS m ORDER BY m.position;
    WHILE @@ROWCOUNT > 0
    BEGIN
        EXEC {push} @message = @payload, @id = @id OUTPUT, @quiet = 1;
        INSERT INTO @ids (id) VALUES (@id);
        SELECT TOP (1) @position = m.position, @payload = m.payload
        FROM @messages AS m
        WHERE m.position > @position
        ORDER BY m.position;
    END;
    COMMIT TRANSACTION;
    SELECT i.id FROM @ids AS i ORDER BY i.id;
END;
