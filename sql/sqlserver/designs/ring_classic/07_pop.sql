-- Pop the next message; no row if it did not come within @wait_ms milliseconds: call again from the same session, which
-- keeps the number it has taken, and continues to wait for that message. As published: take a number, and try its slot
-- every second until the message is there (@wait_ms NULL: forever). A session that ends in the meantime, or a
-- transaction that is rolled back, loses the number, and its message waits forever.
--
-- @head_start: take no number unless producers are this far ahead (the article: "it is generally a good idea to let
-- push get a head start"); 0: take a number at once and run ahead of the producers, as its code does. Needs VIEW
-- DEFINITION on the sequences. The hint is the article's: ROWLOCK, only the slot; it waits for a session that has
-- locked the slot. No deadlock: one row is locked by a call, and nothing is waited for with it; a caller with several
-- pushes or pops in one transaction holds several, and may deadlock with another one (error 1205: try again).
-- Works in the caller's transaction or, without one, in its own. XACT_ABORT: an error rolls back the whole of it.
-- {table}    the ring
-- {pop}      the procedure
-- {draw}     procedure: the next number
-- {memory}   procedure: the number this session waits with
-- {position} procedure: the last number taken
-- {size!int} slots
-- {switch}   ends of the pauses
-- {paused}   procedure: waits or raises an error during a pause
-- > id       the message's number
-- > payload  the message
CREATE PROCEDURE {pop}
    @wait_ms int = 0,
    @head_start int = 1,
    @number bigint = NULL OUTPUT,
    @id bigint = NULL OUTPUT,
    @payload nvarchar(max) = NULL OUTPUT,
    @quiet bit = 0
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    DECLARE @paused int;
    IF EXISTS (SELECT * FROM {switch} WITH (NOLOCK) WHERE side = 1 AND until_utc > SYSUTCDATETIME())
    BEGIN
        EXEC @paused = {paused} @side = 1;
        IF @paused <> 0 RETURN @paused;
    END;
    DECLARE @until datetime2(3), @slot int, @waited bit;
    DECLARE @pushed bigint, @popped bigint;
    SELECT @id = NULL, @payload = NULL, @until = DATEADD(MILLISECOND, @wait_ms, SYSUTCDATETIME());
    IF @number IS NULL EXEC {memory} @side = 1, @number = @number OUTPUT;
    SET @waited = CASE WHEN @number IS NULL THEN 0 ELSE 1 END;
    WHILE @id IS NULL
    BEGIN
        IF @number IS NULL
        BEGIN
            IF @head_start > 0
            BEGIN
                EXEC {position} @side = 0, @position = @pushed OUTPUT;
                EXEC {position} @side = 1, @position = @popped OUTPUT;
            END;
            IF @head_start <= 0 OR @pushed IS NULL OR @pushed - @popped >= @head_start
                EXEC {draw} @side = 1, @number = @number OUTPUT;
        END;
        IF @number IS NOT NULL
        BEGIN
            SET @slot = CONVERT(int, @number % {size!int});
            UPDATE {table} WITH (ROWLOCK)
            SET time = SYSUTCDATETIME(),
                @payload = message,
                message_id = NULL,
                reference_count = reference_count - 1
            WHERE slot = @slot
                AND message_id = @number
            OPTION (MAXDOP 1, KEEPFIXED PLAN);
            IF @@ROWCOUNT > 0 SET @id = @number;
        END;
        IF @id IS NULL
        BEGIN
            IF SYSUTCDATETIME() >= @until BREAK;
            WAITFOR DELAY '00:00:01';
        END;
    END;
    -- Written only if a number must be kept or was kept: a push or pop that does not wait leaves no trace.
    IF @id IS NULL
        EXEC {memory} @side = 1, @number = @number, @keep = 1;
    ELSE
    BEGIN
        IF @waited = 1 EXEC {memory} @side = 1, @number = NULL, @keep = 1;
        SET @number = NULL;
    END;
    IF @quiet = 0 SELECT @id AS id, @payload AS payload WHERE @id IS NOT NULL;
END;
