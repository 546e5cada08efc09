-- A number for a producer (@side 0) or a consumer (1; of subscriber k: k) where some are spare; NULL if none can be
-- used now, and a new one could not be either. Part of push and pop, called within their transaction: if that is rolled
-- back, a spare number stays spare.
--
-- First the smallest spare number whose slot is ready for it, or has gone past it (it is void then, and the caller
-- drops it). Then holes are skipped. Then a new number is taken, if it could be used as things are: by a producer, if
-- the slot after the greatest spare number is not taken by the lap before; by a consumer, if producers are ahead. So
-- while the ring is full, or empty, sessions take no number, and polling writes nothing.
--
-- A hole is a number that will never be pushed: its producer died, or was rolled back, or a crash burnt it. It is
-- proven thus:
--   it has been taken: a greater one has;
--   no open transaction has pushed it: its slot is not locked. (READPAST passes over one that
--   is.) So the transaction that used it, if any, has ended; what other transactions are open does not matter;
--   no session will take it from the spare numbers: it is not among them, not even uncommitted (NOLOCK);
--   all that was so 50 ms ago, when the greater number was taken already (since): a session that has taken a number
--   goes straight on to push it or to put it among the spare ones, one statement later.
-- No view of the server's transactions is needed for that, and so no VIEW SERVER STATE. Should a session be stopped
-- between the two statements for that long, nothing is lost either: skipping has moved the turn on, and it is refused
-- and takes another number.
--
-- It waits for no lock: it skips locked rows, or reads without locks if a hint is enough.
-- {table}    the ring
-- {spare}    spare numbers
-- {take}     the procedure
-- {draw}     procedure: the next number
-- {position} procedure: the last number taken
-- {size!int} slots
CREATE PROCEDURE {take}
    @side smallint,
    @last bigint,
    @number bigint OUTPUT
AS
BEGIN
    SET NOCOUNT ON;
    DECLARE @taken TABLE (number bigint NOT NULL);
    DECLARE @tries tinyint, @skipped int, @first int, @pushed bigint, @popped bigint, @ago datetime2(3);
    SELECT @number = NULL, @tries = 0, @skipped = 1, @ago = DATEADD(MILLISECOND, -50, SYSUTCDATETIME());
    WHILE @number IS NULL AND @skipped > 0 AND @tries < 3
    BEGIN
        SET @tries = @tries + 1;
        WITH fit AS (
            SELECT TOP (1) s.side, s.number
            FROM {spare} AS s WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK)
            WHERE s.side = @side
                AND EXISTS (
                    SELECT *
                    FROM {table} AS q WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK)
                    WHERE q.slot = CONVERT(int, s.number % {size!int})
                        AND q.turn >= s.number + CASE @side WHEN 0 THEN 0 ELSE 1 END
                )
            ORDER BY s.number
        )
        DELETE FROM fit
        OUTPUT deleted.number INTO @taken (number)
        OPTION (MAXDOP 1, KEEPFIXED PLAN);
        SET @number = (SELECT t.number FROM @taken AS t);
        IF @number IS NOT NULL RETURN;

        IF @side = 0
            UPDATE q
            SET turn = s.number
            FROM {spare} AS s WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK)
            JOIN {table} AS q WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK)
                ON q.slot = CONVERT(int, s.number % {size!int})
            WHERE s.side = 0
                AND s.since < @ago
                AND q.turn < s.number
                AND q.reference_count = 0
                AND NOT EXISTS (
                    SELECT *
                    FROM {spare} AS o WITH (NOLOCK)
                    WHERE o.side = 0
                        AND o.number >= q.turn
                        AND o.number < s.number
                        AND o.number % {size!int} = q.slot
                )
            OPTION (MAXDOP 1, KEEPFIXED PLAN);
        ELSE
        BEGIN
            EXEC {position} @side = 0, @position = @pushed OUTPUT;
            EXEC {position} @side = @side, @position = @popped OUTPUT;
            IF @pushed IS NULL OR @popped IS NULL
            BEGIN
                -- Not allowed to see the sequences: the greatest of the next 64 numbers that has been pushed.
                SELECT @first = CONVERT(int, (@last + 1) % {size!int}), @popped = @last;
                SET @pushed = (
                    SELECT MAX(@last + 1 + (q.slot - @first + {size!int}) % {size!int})
                    FROM {table} AS q WITH (NOLOCK)
                    WHERE (q.slot BETWEEN @first AND @first + 63 OR q.slot <= @first + 63 - {size!int})
                        AND q.turn > @last + 1 + (q.slot - @first + {size!int}) % {size!int}
                );
            END;
            UPDATE {spare} WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK)
            SET since = SYSUTCDATETIME()
            WHERE side = @side
                AND number < @pushed
                AND since IS NULL
            OPTION (MAXDOP 1, KEEPFIXED PLAN);
            UPDATE q
            SET turn = s.number + {size!int}
            FROM {spare} AS s WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK)
            JOIN {table} AS q WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK)
                ON q.slot = CONVERT(int, s.number % {size!int})
            WHERE s.side = @side
                AND s.since < @ago
                AND s.number < @pushed
                AND q.turn <= s.number
                AND q.reference_count = 0
                AND NOT EXISTS (
                    SELECT *
                    FROM {spare} AS o WITH (NOLOCK)
                    WHERE o.side = 0
                        AND o.number >= q.turn
                        AND o.number <= s.number
                        AND o.number % {size!int} = q.slot
                )
            OPTION (MAXDOP 1, KEEPFIXED PLAN);
        END;
        SET @skipped = @@ROWCOUNT;
    END;

    -- A thousand spare numbers are enough to wait for, because a consumer searches them before it draws.
    IF @side = 0 AND EXISTS (
        SELECT *
        FROM {table} AS q WITH (NOLOCK)
        WHERE q.slot = CONVERT(int, (@last + 1) % {size!int})
            AND q.turn > @last
    )
        OR @side > 0 AND @popped < @pushed
            AND (SELECT COUNT(*) FROM {spare} AS s WITH (NOLOCK) WHERE s.side = @side) < 1000
        EXEC {draw} @side = @side, @number = @number OUTPUT;
END;
