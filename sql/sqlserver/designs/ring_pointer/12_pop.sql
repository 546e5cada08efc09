-- Pop the next message; no row if none came within @wait_ms milliseconds. Its slot is free as soon as
-- the consumer commits. The order is that of numbers, except for messages that a consumer was not ready for or rolled
-- back.
--
-- Take a number, go to its slot, read: the article's two steps, and nothing more while nothing is spare. If the message
-- is not there yet, the number goes to the spare ones, and the session waits without it: the next pop takes the
-- smallest number whose message has come. While no producer is ahead, consumers take no number (the article lets
-- consumers run ahead, and gives producers a head start). So a consumer that times out, is cancelled or dies while it
-- waits loses no number. A session that ends between taking a number and the next statement leaves an orphan, and so do a
-- crash of the server and a caller that rolls back: its number becomes spare as soon as a consumer finds nothing to
-- pop, or pops a number divisible by 32, and searches for orphans (settle). The message that a session rolled back last
-- is the first one that it pops again (from 2016 on, see memory).
--
-- The hints: ROWLOCK (the article): only the slot. READPAST, an addition: if the producer has not committed, the
-- message has not come yet; a consumer does not wait for a lock, only for @wait_ms. READCOMMITTEDLOCK, because READPAST
-- fails on row versions.
-- Two consumers cannot get the same message: only one consumer takes its number, and the turn changes under the row's
-- lock. "No row" is true: numbers up to the last one taken have been popped, or are spare and without their message;
-- and no producer is ahead. (Without the right to see the sequences: none among the next 64 numbers.)
-- No deadlock among producers and consumers: they wait for no lock.
-- The empty wait begins with a millisecond and doubles up to 20 (the article: 1
-- s). Works in the caller's transaction or, without one, in its own. XACT_ABORT: an error rolls back the whole of it.
-- @quiet = 1: no result, for callers that take number and message from @id and @payload.
-- {table}    the ring
-- {spare}    spare numbers
-- {pop}      the procedure
-- {take}     procedure: a number where some are spare
-- {draw}     procedure: the next number
-- {settle}   procedure: makes taken numbers spare if they were not popped
-- {memory}   procedure: messages popped in a transaction
-- {fetch}    procedure: take the payload away
-- {size!int} slots
-- {switch}   ends of the pauses
-- {paused}   procedure: waits or raises an error during a pause
-- > id       the message's number
-- > payload  the message
CREATE PROCEDURE {pop}
    @wait_ms int = 0,
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
    DECLARE @number bigint, @slot int, @last bigint, @until datetime2(3), @pause_ms int, @delay char(12);
    DECLARE @in_transaction bit, @kept bigint, @given int, @behind int;
    SELECT @id = NULL, @payload = NULL, @pause_ms = 1, @until = DATEADD(MILLISECOND, @wait_ms, SYSUTCDATETIME());
    -- The caller may roll back our work: it has a transaction, or one begins by itself (IMPLICIT_TRANSACTIONS).
    SET @in_transaction = CASE WHEN @@TRANCOUNT > 0 OR @@OPTIONS & 2 <> 0 THEN 1 ELSE 0 END;
    IF @in_transaction = 1 EXEC {memory} @side = 1, @number = @kept OUTPUT;
    WHILE @id IS NULL
    BEGIN
        SET @number = @kept;
        BEGIN TRANSACTION;
        IF @number IS NULL
        BEGIN
            SET @last = (SELECT MAX(s.number) FROM {spare} AS s WITH (NOLOCK) WHERE s.side = 1);
            IF @last IS NULL
                EXEC {draw} @side = 1, @number = @number OUTPUT;
            ELSE
                EXEC {take} @side = 1, @last = @last, @number = @number OUTPUT;
        END;
        IF @number IS NOT NULL
        BEGIN
            SET @slot = CONVERT(int, @number % {size!int});
            UPDATE {table} WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK)
            SET time = SYSUTCDATETIME(),
                message_id = NULL,
                reference_count = reference_count - 1,
                turn = @number + {size!int}
            WHERE slot = @slot
                AND turn = @number + 1
            OPTION (MAXDOP 1, KEEPFIXED PLAN);
            IF @@ROWCOUNT = 1
            BEGIN
                EXEC {fetch} @number = @number, @message = @payload OUTPUT;
                SET @id = @number;
            END;
            ELSE IF @kept IS NULL AND NOT EXISTS (
                SELECT *
                FROM {table} WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK)
                WHERE slot = @slot
                    AND turn > @number + 1
            )
                INSERT INTO {spare} (side, number) VALUES (1, @number);
        END;
        COMMIT TRANSACTION;
        SET @kept = NULL;
        IF @number IS NULL
        BEGIN
            EXEC {settle} @side = 1, @upto = NULL, @behind = 0, @given = @given OUTPUT;
            IF @given > 0 CONTINUE;
            IF SYSUTCDATETIME() >= @until BREAK;
            SET @delay = '00:00:00.' + RIGHT('00' + CONVERT(varchar(3), @pause_ms), 3);
            WAITFOR DELAY @delay;
            SET @pause_ms = CASE WHEN @pause_ms < 16 THEN @pause_ms * 2 ELSE 20 END;
        END;
    END;
    IF @id % 32 = 0
    BEGIN
        SET @behind = CASE WHEN {size!int} < 256 THEN {size!int} / 4 ELSE 64 END;
        EXEC {settle} @side = 1, @upto = @id, @behind = @behind, @given = @given OUTPUT;
    END;
    IF @id IS NOT NULL AND @in_transaction = 1 EXEC {memory} @side = 1, @number = @id, @keep = 1;
    IF @quiet = 0 SELECT @id AS id, @payload AS payload WHERE @id IS NOT NULL;
END;
