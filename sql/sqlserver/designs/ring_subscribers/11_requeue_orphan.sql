-- Repair: requeue message @number for subscriber @subscriber, whose consumer took the number and died, under a new
-- number. Returns the new number, or NULL if the message is not an orphan of this subscriber. If the ring stays full
-- for @wait_ms milliseconds, it keeps its number, which becomes a spare one: the next consumer takes it. The other
-- subscribers pass over the new number.
--
-- An orphan is proven like a hole (see take): its number has been taken by a consumer, is not spare, and its slot is
-- not locked, so that no open transaction has popped it; and that has been so for 50 ms, in which a living consumer
-- would have popped it or made it spare. A consumer that comes after all is refused by the slot's turn and takes
-- another number: the message is delivered once. The old slot is freed before the push, in the same transaction: the
-- new number may need it.
-- @sure = 1: the caller (repair) has watched it that long already.
-- A pause of the producers does not stop it (@through).
-- {table}          the ring
-- {spare}          spare numbers
-- {requeue_orphan} the procedure
-- {push}           procedure: push a message
-- {position}       procedure: the last number taken
-- {size!int}       slots
-- > became         its new number
CREATE PROCEDURE {requeue_orphan}
    @number bigint,
    @subscriber int = 1,
    @wait_ms int = 1000,
    @sure bit = 0,
    @became bigint = NULL OUTPUT,
    @quiet bit = 0
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    DECLARE @position bigint, @message nvarchar(max), @until datetime2(3), @left_ms int, @bit int;
    SELECT @became = NULL, @until = DATEADD(MILLISECOND, @wait_ms, SYSUTCDATETIME());
    SET @bit = POWER(2, @subscriber - 1);
    EXEC {position} @side = @subscriber, @position = @position OUTPUT;
    IF @position IS NULL
    BEGIN
        RAISERROR (N'your login may not see the sequences; ask for GRANT VIEW DEFINITION on them', 16, 1);
        RETURN;
    END;
    IF @sure = 0
        AND EXISTS (
            SELECT *
            FROM {table} AS q WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK)
            WHERE q.slot = CONVERT(int, @number % {size!int})
                AND q.turn = @number + 1
                AND q.unread & @bit <> 0
        )
        WAITFOR DELAY '00:00:00.050';

    BEGIN TRANSACTION;
    UPDATE q
    SET @message = q.message,
        message_id = CASE q.reference_count WHEN 1 THEN NULL ELSE q.message_id END,
        turn = CASE q.reference_count WHEN 1 THEN @number + {size!int} ELSE q.turn END,
        reference_count = q.reference_count - 1,
        unread = q.unread & ~@bit
    FROM {table} AS q WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK)
    WHERE q.slot = CONVERT(int, @number % {size!int})
        AND q.turn = @number + 1
        AND q.unread & @bit <> 0
        AND @number <= @position
        AND NOT EXISTS (SELECT * FROM {spare} AS s WITH (NOLOCK) WHERE s.side = @subscriber AND s.number = @number)
    OPTION (MAXDOP 1);
    IF @@ROWCOUNT = 1
    BEGIN
        SET @left_ms = DATEDIFF(MILLISECOND, SYSUTCDATETIME(), @until);
        EXEC {push} @message = @message, @wait_ms = @left_ms, @for = @bit, @id = @became OUTPUT, @quiet = 1,
            @through = 1, @null_when_full = 1;
    END;
    ELSE
        SET @left_ms = NULL;
    IF @became IS NULL AND @left_ms IS NOT NULL
    BEGIN
        UPDATE {table} WITH (ROWLOCK)
        SET message_id = @number, turn = @number + 1, reference_count = reference_count + 1, unread = unread | @bit
        WHERE slot = CONVERT(int, @number % {size!int});
        INSERT INTO {spare} (side, number) VALUES (@subscriber, @number);
        SET @became = @number;
    END;
    COMMIT TRANSACTION;
    IF @quiet = 0 SELECT @became AS became;
END;
