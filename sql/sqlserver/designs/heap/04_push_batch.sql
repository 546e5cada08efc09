-- Push many messages in one statement; returns a row for each. An addition: the article pushes one at a time.
-- {table}      the queue
-- {push_batch} the procedure
-- {messages}   type: the messages
-- > id         1
CREATE PROCEDURE {push_batch}
    @messages {messages} READONLY
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    INSERT INTO {table} WITH (ROWLOCK) (payload)
    OUTPUT CAST(1 AS bigint) AS id
    SELECT m.payload
    FROM @messages AS m
    OPTION (MAXDOP 1);
END;
