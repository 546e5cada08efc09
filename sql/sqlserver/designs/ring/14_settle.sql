-- Finds numbers that were taken and not popped: their consumer died or rolled back several pops, or a crash of the
-- server lost the rest of a sequence's cache, perhaps past all pushed messages. They become spare numbers, which the
-- next consumers take, the smallest first. How many, in @given.
--
-- Up to which number all have been popped or skipped stands among the spare numbers, as the number of side -@side: a
-- look begins behind it, and moves it on. It reads 1,000 slots at a time, at most a few times, and each time up to the
-- end of the lap, so that they are one range of the key; if consumers keep pace, as many as were popped since, about
-- thirty. READPAST: a slot that a session is writing counts as not settled, and is skipped.
-- One session at a time: the session that moves that row keeps it locked until its transaction ends, and the others
-- skip it; they may not read it either, because a rollback takes back the pops as well as the number.
--
-- The proof is that of take: the number has been taken, is not spare, not even uncommitted (NOLOCK), and its slot is
-- not locked, so that no open transaction has popped it; and all that for 50 ms, in which a living consumer would have
-- popped it or made it spare. The wait costs time only if there is something to prove. A consumer that comes with the
-- number after all is refused by the slot's turn, or finds it spare already: the message is delivered once.
--
-- @upto: the last number that has been taken, as far as the caller knows; NULL: ask the sequence.
-- @behind: how many of the newest taken numbers to leave out, because with traffic, consumers are working on them.
-- {table}    the ring
-- {spare}    spare numbers
-- {settle}   the procedure
-- {position} procedure: the last number taken
-- {size!int} slots
CREATE PROCEDURE {settle}
    @side smallint,
    @upto bigint,
    @behind int,
    @given int OUTPUT
AS
BEGIN
    SET NOCOUNT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
    DECLARE @known bigint, @settled bigint, @seen bigint, @lap bigint, @from int, @to int, @last int, @looks tinyint;
    DECLARE @left TABLE (number bigint NOT NULL PRIMARY KEY);
    SELECT @given = 0, @looks = 0;
    IF @upto IS NULL EXEC {position} @side = @side, @position = @upto OUTPUT;
    IF @upto IS NULL SET @upto = (SELECT MAX(s.number) FROM {spare} AS s WITH (NOLOCK) WHERE s.side = @side);
    SET @known = (SELECT s.number FROM {spare} AS s WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK) WHERE s.side = -@side);
    SELECT @settled = @known, @seen = @known;
    WHILE @seen < @upto AND @looks < 4
    BEGIN
        SELECT @looks = @looks + 1, @lap = (@seen + 1) / {size!int} * {size!int};
        SET @from = CONVERT(int, @seen + 1 - @lap);
        SET @to = CASE WHEN @from + 999 < {size!int} THEN @from + 999 ELSE {size!int} - 1 END;
        IF @upto - @lap < @to SET @to = CONVERT(int, @upto - @lap);
        -- Those that follow one another without a gap.
        IF @settled = @seen
            SET @settled = @settled + (
                SELECT COUNT(*)
                FROM (
                    SELECT q.slot, @from - 1 + ROW_NUMBER() OVER (ORDER BY q.slot) AS place
                    FROM {table} AS q WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK)
                    WHERE q.slot BETWEEN @from AND @to
                        AND q.turn > @lap + q.slot + 1
                ) AS p
                WHERE p.slot = p.place
            );
        SET @seen = @lap + @to;
        IF @settled < @seen AND @settled < @upto - @behind
        BEGIN
            IF @settled - @lap >= @from SET @from = CONVERT(int, @settled + 1 - @lap);
            SET @last = CASE WHEN @upto - @behind < @seen THEN CONVERT(int, @upto - @behind - @lap) ELSE @to END;
            INSERT INTO @left (number)
            SELECT @lap + q.slot
            FROM {table} AS q WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK)
            WHERE q.slot BETWEEN @from AND @last
                AND q.turn <= @lap + q.slot + 1
                AND NOT EXISTS (
                    SELECT *
                    FROM {spare} AS s WITH (NOLOCK)
                    WHERE s.side = @side
                        AND s.number = @lap + q.slot
                )
            OPTION (MAXDOP 1, KEEPFIXED PLAN);
            SET @given = @given + @@ROWCOUNT;
            IF @given > 0 BREAK;
        END;
    END;
    IF @given = 0 AND (@settled IS NULL OR @settled = @known OR @settled < @known + 32 AND @looks < 2) RETURN;

    BEGIN TRANSACTION;
    UPDATE {spare} WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK)
    SET number = @settled
    WHERE side = -@side
        AND number <= @settled
    OPTION (MAXDOP 1, KEEPFIXED PLAN);
    IF @@ROWCOUNT = 0 SET @given = 0;
    IF @given > 0
    BEGIN
        WAITFOR DELAY '00:00:00.050';
        INSERT INTO {spare} (side, number)
        SELECT @side, f.number
        FROM @left AS f
        INNER LOOP JOIN {table} AS q WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK)
            ON q.slot = CONVERT(int, f.number % {size!int})
        WHERE q.turn <= f.number + 1
            AND NOT EXISTS (SELECT * FROM {spare} AS s WITH (NOLOCK) WHERE s.side = @side AND s.number = f.number)
        OPTION (MAXDOP 1);
        SET @given = @@ROWCOUNT;
    END;
    COMMIT TRANSACTION;
END;
