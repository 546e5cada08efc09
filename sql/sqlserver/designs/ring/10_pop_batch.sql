-- Pop up to @limit messages, smallest numbers first; no row if there is none. An addition: the article's comments speak
-- of it, and say that atomic ranges of numbers would be needed: sp_sequence_get_range gives them, see draw.
--
-- One number as pop gets it, and the spare ones whose messages have come; then as many more at once as messages stand
-- in the slots behind it. Numbers that cannot be used, because others took in the meantime, go to the spare numbers. If
-- the caller of a batch rolls back, its messages become orphans, except for numbers that were spare; they become spare
-- as those of pop do (settle). The hints are those of pop. Never waits, but for the proof of settle.
-- {table}     the ring
-- {spare}     spare numbers
-- {pop_batch} the procedure
-- {take}      procedure: a number where some are spare
-- {draw}      procedure: the next numbers
-- {settle}    procedure: makes taken numbers spare if they were not popped
-- {size!int}  slots
-- {switch}    ends of the pauses
-- {paused}    procedure: waits or raises an error during a pause
-- > id        the message's number
-- > payload   the message
CREATE PROCEDURE {pop_batch}
    @limit int
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
    DECLARE @numbers TABLE (number bigint NOT NULL PRIMARY KEY);
    DECLARE @popped TABLE (number bigint NOT NULL PRIMARY KEY, message nvarchar(max) NOT NULL);
    DECLARE @number bigint, @last bigint, @first int, @count int, @tries tinyint, @given int, @behind int;
    SET @limit = CASE WHEN @limit >= {size!int} THEN {size!int} - 1 WHEN @limit > 1000 THEN 1000 ELSE @limit END;
    SET @tries = 0;
    WHILE @limit > 0 AND @tries < 100 AND NOT EXISTS (SELECT * FROM @popped)
    BEGIN
        SELECT @number = NULL, @tries = @tries + 1;
        DELETE FROM @numbers;
        BEGIN TRANSACTION;
        SET @last = (SELECT MAX(s.number) FROM {spare} AS s WITH (NOLOCK) WHERE s.side = 1);
        IF @last IS NULL
            EXEC {draw} @side = 1, @number = @number OUTPUT;
        ELSE
            EXEC {take} @side = 1, @last = @last, @number = @number OUTPUT;
        IF @number IS NULL
        BEGIN
            COMMIT TRANSACTION;
            EXEC {settle} @side = 1, @upto = NULL, @behind = 0, @given = @given OUTPUT;
            IF @given > 0 CONTINUE;
            BREAK;
        END;
        INSERT INTO @numbers (number) VALUES (@number);
        IF @last IS NOT NULL AND @limit > 1
        BEGIN
            WITH fit AS (
                SELECT TOP (@limit - 1) s.side, s.number
                FROM {spare} AS s WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK)
                WHERE s.side = 1
                    AND EXISTS (
                        SELECT *
                        FROM {table} AS q WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK)
                        WHERE q.slot = CONVERT(int, s.number % {size!int})
                            AND q.turn > s.number
                    )
                ORDER BY s.number
            )
            DELETE FROM fit
            OUTPUT deleted.number INTO @numbers (number)
            OPTION (MAXDOP 1, KEEPFIXED PLAN);
        END;
        -- How many messages stand behind the last number of ours, one after the other or with gaps: as many are
        -- drawn.
        SELECT @number = MAX(n.number), @count = @limit - COUNT(*) FROM @numbers AS n;
        IF @count > 0
        BEGIN
            SET @first = CONVERT(int, (@number + 1) % {size!int});
            SET @count = (
                SELECT COUNT(*)
                FROM {table} AS q WITH (NOLOCK)
                WHERE (q.slot BETWEEN @first AND @first + @count - 1 OR q.slot <= @first + @count - 1 - {size!int})
                    AND q.turn = @number + 2 + (q.slot - @first + {size!int}) % {size!int}
            );
        END;
        IF @count > 0
        BEGIN
            EXEC {draw} @side = 1, @number = @number OUTPUT, @count = @count OUTPUT;
            WITH digits AS (
                SELECT v.d FROM (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)) AS v(d)
            )
            INSERT INTO @numbers (number)
            SELECT @number + a.d + 10 * b.d + 100 * c.d
            FROM digits AS a
            CROSS JOIN digits AS b
            CROSS JOIN digits AS c
            WHERE a.d + 10 * b.d + 100 * c.d < @count;
        END;
        UPDATE q
        SET time = SYSUTCDATETIME(),
            message_id = NULL,
            reference_count = q.reference_count - 1,
            turn = n.number + {size!int}
        OUTPUT n.number, deleted.message INTO @popped (number, message)
        FROM @numbers AS n
        INNER LOOP JOIN {table} AS q WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK)
            ON q.slot = CONVERT(int, n.number % {size!int})
            AND q.turn = n.number + 1
        OPTION (MAXDOP 1);
        INSERT INTO {spare} (side, number)
        SELECT 1, n.number
        FROM @numbers AS n
        WHERE NOT EXISTS (SELECT * FROM @popped AS p WHERE p.number = n.number)
            AND NOT EXISTS (
                SELECT *
                FROM {table} AS q WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK)
                WHERE q.slot = CONVERT(int, n.number % {size!int})
                    AND q.turn > n.number + 1
            );
        COMMIT TRANSACTION;
    END;
    SET @number = (SELECT MAX(p.number) FROM @popped AS p WHERE p.number % 32 = 0);
    IF @number IS NOT NULL
    BEGIN
        SET @behind = CASE WHEN {size!int} < 256 THEN {size!int} / 4 ELSE 64 END;
        EXEC {settle} @side = 1, @upto = @number, @behind = @behind, @given = @given OUTPUT;
    END;
    SELECT p.number AS id, p.message AS payload FROM @popped AS p ORDER BY p.number;
END;
