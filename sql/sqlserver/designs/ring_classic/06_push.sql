-- Push one message; returns its number, or NULL if its slot did not become free within @wait_ms milliseconds: call
-- again from the same session, which keeps the number it has taken, and continues to wait with it. As published: take a
-- number, and try the slot every 100 ms until it is free (@wait_ms NULL: forever). A session that ends in the meantime,
-- or a transaction that is rolled back, loses the number: a hole.
-- The hint is the article's: ROWLOCK, only the slot; it waits for a session that has locked the slot.
-- No deadlock: one row is locked by a call, and nothing is waited for with it; a caller with several pushes or pops
-- in one transaction holds several, and may deadlock with another one (error 1205: try again).
-- Works in the caller's transaction or, without one, in its own. XACT_ABORT: an error rolls back the whole of it.
-- {table}    the ring
-- {push}     the procedure
-- {draw}     procedure: the next number
-- {memory}   procedure: the number this session waits with
-- {size!int} slots
-- {switch}   ends of the pauses
-- {paused}   procedure: waits or raises an error during a pause
-- > id       the message's number
CREATE PROCEDURE {push}
    @message nvarchar(max),
    @wait_ms int = 1000,
    @number bigint = NULL OUTPUT,
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
    DECLARE @until datetime2(3), @slot int, @waited bit;
    SELECT @id = NULL, @until = DATEADD(MILLISECOND, @wait_ms, SYSUTCDATETIME());
    IF @number IS NULL EXEC {memory} @side = 0, @number = @number OUTPUT;
    SET @waited = CASE WHEN @number IS NULL THEN 0 ELSE 1 END;
    WHILE @id IS NULL
    BEGIN
        IF @number IS NULL EXEC {draw} @side = 0, @number = @number OUTPUT;
        IF @number IS NOT NULL
        BEGIN
            SET @slot = CONVERT(int, @number % {size!int});
            UPDATE {table} WITH (ROWLOCK)
            SET time = SYSUTCDATETIME(),
                message = @message,
                message_id = @number,
                reference_count = reference_count + 1
            WHERE slot = @slot
                AND reference_count = 0
            OPTION (MAXDOP 1, KEEPFIXED PLAN);
            IF @@ROWCOUNT > 0 SET @id = @number;
        END;
        IF @id IS NULL
        BEGIN
            IF SYSUTCDATETIME() >= @until BREAK;
            WAITFOR DELAY '00:00:00.100';
        END;
    END;
    -- Written only if a number must be kept or was kept: a push or pop that does not wait leaves no trace.
    IF @id IS NULL
        EXEC {memory} @side = 0, @number = @number, @keep = 1;
    ELSE
    BEGIN
        IF @waited = 1 EXEC {memory} @side = 0, @number = NULL, @keep = 1;
        SET @number = NULL;
    END;
    IF @quiet = 0 SELECT @id AS id;
END;
