-- Push one message; returns its number, or error 770003, before 2012 50000 with a text that
-- begins with QM003, if the ring stayed full for @wait_ms milliseconds: nothing was done, try again later
-- (@null_when_full = 1: NULL instead).
--
-- Take a number, go to its slot, write: the article's two steps, in its order, and nothing more while nothing is spare.
-- If the slot is not free yet, the number goes to the spare ones, and the session waits without it: the next push takes
-- the smallest number that fits. So a producer that times out, is cancelled or dies while the ring is full loses no
-- number. It leaves a hole only if it ends between taking the number and the next statement, or if its caller rolls
-- back. Consumers skip this hole, see take. The message itself cannot be lost: it is in its slot, or the caller has no
-- number for it.
--
-- The hints: ROWLOCK (the article): only the slot. READPAST, an addition: if the consumer of the lap before has not
-- committed, the slot counts as taken; a producer does not wait for a lock, only for @wait_ms. READCOMMITTEDLOCK,
-- because READPAST fails on row versions.
-- Two producers cannot get the same slot: the UPDATE finds turn = its own number, under the row's lock, and moves it
-- on. No deadlock among producers and consumers: they wait for no lock.
-- The article's test, reference_count = 0, stays: it is true whenever the
-- turn is. The full wait begins with a millisecond and doubles up to 20 (the article: 100).
-- Works in the caller's transaction or, without one, in its own. XACT_ABORT: an error rolls back the whole of it.
-- @quiet = 1: no result, for callers that take the number from @id.
-- @through = 1: for repairs, which a pause of the producers does not stop.
-- {table}    the ring
-- {spare}    spare numbers
-- {push}     the procedure
-- {take}     procedure: a number where some are spare
-- {draw}     procedure: the next number
-- {store}    procedure: keep the payload
-- {full}     procedure: says that the ring is full
-- {size!int} slots
-- {switch}   ends of the pauses
-- {paused}   procedure: waits or raises an error during a pause
-- > id       the message's number
CREATE PROCEDURE {push}
    @message nvarchar(max),
    @wait_ms int = 1000,
    @id bigint = NULL OUTPUT,
    @quiet bit = 0,
    @through bit = 0,
    @null_when_full bit = 0
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    DECLARE @paused int;
    IF @through = 0
        AND EXISTS (SELECT * FROM {switch} WITH (NOLOCK) WHERE side = 0 AND until_utc > SYSUTCDATETIME())
    BEGIN
        EXEC @paused = {paused} @side = 0;
        IF @paused <> 0 RETURN @paused;
    END;
    DECLARE @number bigint, @slot int, @last bigint, @until datetime2(3), @pause_ms int, @delay char(12);
    SELECT @id = NULL, @pause_ms = 1, @until = DATEADD(MILLISECOND, @wait_ms, SYSUTCDATETIME());
    WHILE @id IS NULL
    BEGIN
        SET @number = NULL;
        BEGIN TRANSACTION;
        SET @last = (SELECT MAX(s.number) FROM {spare} AS s WITH (NOLOCK) WHERE s.side = 0);
        IF @last IS NULL
            EXEC {draw} @side = 0, @number = @number OUTPUT;
        ELSE
            EXEC {take} @side = 0, @last = @last, @number = @number OUTPUT;
        IF @number IS NOT NULL
        BEGIN
            SET @slot = CONVERT(int, @number % {size!int});
            UPDATE {table} WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK)
            SET time = SYSUTCDATETIME(),
                message_id = @number,
                reference_count = reference_count + 1,
                turn = @number + 1
            WHERE slot = @slot
                AND turn = @number
                AND reference_count = 0
            OPTION (MAXDOP 1, KEEPFIXED PLAN);
            IF @@ROWCOUNT = 1
            BEGIN
                EXEC {store} @number = @number, @message = @message;
                SET @id = @number;
            END;
            ELSE IF NOT EXISTS (
                SELECT *
                FROM {table} WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK)
                WHERE slot = @slot
                    AND turn > @number
            )
                INSERT INTO {spare} (side, number, since) VALUES (0, @number, SYSUTCDATETIME());
        END;
        COMMIT TRANSACTION;
        IF @number IS NULL
        BEGIN
            IF SYSUTCDATETIME() >= @until BREAK;
            SET @delay = '00:00:00.' + RIGHT('00' + CONVERT(varchar(3), @pause_ms), 3);
            WAITFOR DELAY @delay;
            SET @pause_ms = CASE WHEN @pause_ms < 16 THEN @pause_ms * 2 ELSE 20 END;
        END;
    END;
    IF @id IS NULL AND @null_when_full = 0
    BEGIN
        EXEC {full};
        RETURN 3;
    END;
    IF @quiet = 0 SELECT @id AS id;
END;
