-- Push many messages in one statement; returns their numbers, in the order of positions. An addition: the article
-- pushes one at a time.
-- {table}      the queue
-- {push_batch} the procedure
-- {messages}   type: the messages
-- {seq}        the sequence that numbers messages
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
    INSERT INTO {table} WITH (ROWLOCK) (message_id, time, message)
    OUTPUT inserted.message_id AS id
    SELECT NEXT VALUE FOR {seq} OVER (ORDER BY m.position), SYSUTCDATETIME(), m.payload
    FROM @messages AS m
    OPTION (MAXDOP 1);
END;
