-- Repair: skip number @number, waiting up to @wait_ms milliseconds (50 at least) for the proof that it is a hole; see
-- take for the proof. 1 if it was skipped; 0 if it is not a hole, or not proven in time. A producer that comes with it
-- later is refused by its slot's turn, and takes another number.
-- {table}     the ring
-- {spare}     spare numbers
-- {fill_hole} the procedure
-- {position}  procedure: the last number taken
-- {size!int}  slots
-- > filled    1 or 0
CREATE PROCEDURE {fill_hole}
    @number bigint,
    @wait_ms int = 1000,
    @filled int = NULL OUTPUT,
    @quiet bit = 0
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    DECLARE @position bigint, @until datetime2(3), @seen datetime2(3);
    SELECT @filled = 0, @until = DATEADD(MILLISECOND, @wait_ms, SYSUTCDATETIME());
    EXEC {position} @side = 0, @position = @position OUTPUT;
    IF @position IS NULL
    BEGIN
        RAISERROR (N'your login may not see the sequences; ask for GRANT VIEW DEFINITION on them', 16, 1);
        RETURN;
    END;
    WHILE @number <= @position AND @filled = 0
    BEGIN
        IF NOT EXISTS (
            SELECT *
            FROM {table} AS q WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK)
            WHERE q.slot = CONVERT(int, @number % {size!int})
                AND q.turn = @number
                AND q.reference_count = 0
        )
            OR EXISTS (SELECT * FROM {spare} AS s WITH (NOLOCK) WHERE s.side = 0 AND s.number = @number)
            SET @seen = NULL;
        ELSE IF @seen IS NULL
            SET @seen = SYSUTCDATETIME();
        ELSE IF DATEADD(MILLISECOND, 50, @seen) <= SYSUTCDATETIME()
        BEGIN
            UPDATE q
            SET turn = @number + {size!int}
            FROM {table} AS q WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK)
            WHERE q.slot = CONVERT(int, @number % {size!int})
                AND q.turn = @number
                AND q.reference_count = 0
                AND NOT EXISTS (SELECT * FROM {spare} AS s WITH (NOLOCK) WHERE s.side = 0 AND s.number = @number)
            OPTION (MAXDOP 1);
            SET @filled = @@ROWCOUNT;
        END;
        IF @filled = 0
        BEGIN
            IF SYSUTCDATETIME() >= @until BREAK;
            WAITFOR DELAY '00:00:00.010';
        END;
    END;
    IF @quiet = 0 SELECT @filled AS filled;
END;
