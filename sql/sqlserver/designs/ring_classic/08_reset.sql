-- Renumber the ring: its messages get new numbers, in the order of the old ones, and both sequences continue from
-- there; returns the number of messages. An addition: the published ring stops for good once a number is lost, and must
-- be restarted by hand. Only while no producer and no consumer is connected: a session that keeps a number from before
-- would use it in the wrong place. TABLOCKX waits for running transactions and holds up new ones. Numbers are taken,
-- not sequences altered, so that no right is needed but those of push: the greater position is what both sides continue
-- from.
-- {table}    the ring
-- {reset}    the procedure
-- {draw}     procedure: the next number
-- {position} procedure: the last number taken
-- {size!int} slots
-- > messages number of its messages
CREATE PROCEDURE {reset}
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    DECLARE @held TABLE (place int IDENTITY(1, 1) PRIMARY KEY, message nvarchar(max) NOT NULL);
    DECLARE @pushed bigint, @popped bigint, @count bigint;
    BEGIN TRANSACTION;
    INSERT INTO @held (message)
    SELECT q.message
    FROM {table} AS q WITH (TABLOCKX)
    WHERE q.message_id IS NOT NULL
    ORDER BY q.message_id;
    SET @count = @@ROWCOUNT;
    EXEC {position} @side = 0, @position = @pushed OUTPUT;
    EXEC {position} @side = 1, @position = @popped OUTPUT;
    IF @pushed IS NULL OR @popped IS NULL
    BEGIN
        RAISERROR (N'your login may not see the sequences; ask for GRANT VIEW DEFINITION on them', 16, 1);
        COMMIT TRANSACTION;
        RETURN;
    END;
    -- Pushes end up @count numbers ahead of pops.
    WHILE @popped < @pushed - @count
        EXEC {draw} @side = 1, @number = @popped OUTPUT;
    WHILE @pushed < @popped + @count
        EXEC {draw} @side = 0, @number = @pushed OUTPUT;
    UPDATE {table} WITH (TABLOCKX)
    SET message_id = NULL, reference_count = 0 WHERE message_id IS NOT NULL OR reference_count <> 0;
    UPDATE q
    SET message_id = @popped + h.place, message = h.message, reference_count = 1, time = SYSUTCDATETIME()
    FROM @held AS h
    INNER LOOP JOIN {table} AS q WITH (TABLOCKX) ON q.slot = CONVERT(int, (@popped + h.place) % {size!int});
    COMMIT TRANSACTION;
    SELECT @count AS messages;
END;
