-- Push many messages in one transaction; returns their ids, in the order of positions. An addition.
-- @title NULL: the first 60 characters of each payload.
--
-- Identities are given out in the order of ORDER BY, which INSERT … SELECT promises; so the smallest new id is that
-- of the smallest position, and so on.
-- {table}      QueueMeta
-- {data}       QueueData
-- {push_batch} the procedure
-- {messages}   type: the messages
-- {switch}     ends of the pauses
-- {paused}     procedure: waits or raises an error during a pause
-- > id         the message's id
CREATE PROCEDURE {push_batch}
    @messages {messages} READONLY,
    @title nvarchar(255) = NULL
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
    DECLARE @pushed TABLE (queue_id bigint NOT NULL PRIMARY KEY);
    BEGIN TRANSACTION;
    INSERT INTO {table} WITH (ROWLOCK) (queue_date_time, title)
    OUTPUT inserted.queue_id INTO @pushed (queue_id)
    SELECT SYSUTCDATETIME(), COALESCE(@title, LEFT(m.payload, 60), N'')
    FROM @messages AS m
    ORDER BY m.position
    OPTION (MAXDOP 1);
    INSERT INTO {data} WITH (ROWLOCK) (queue_id, text_data)
    SELECT p.queue_id, m.payload
    FROM (SELECT n.queue_id, ROW_NUMBER() OVER (ORDER BY n.queue_id) AS place FROM @pushed AS n) AS p
    JOIN (SELECT n.payload, ROW_NUMBER() OVER (ORDER BY n.position) AS place FROM @messages AS n) AS m
        ON m.place = p.place
    ORDER BY p.queue_id
    OPTION (MAXDOP 1);
    COMMIT TRANSACTION;
    SELECT p.queue_id AS id FROM @pushed AS p ORDER BY p.queue_id;
END;
