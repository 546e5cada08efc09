-- Repair: requeue the orphans and fill the holes of the ring, up to @limit of each, of slots that were last written at
-- least @min_age_s seconds ago; returns the repaired numbers. Takes about @wait_ms milliseconds at most for proofs and
-- free slots in all. Reads the whole ring twice: for a script or an operator, not for a dashboard. After a crash of the
-- server, which burns numbers of both sides: with a @limit of a thousand.
--
-- Orphans come first, the oldest first, because producers with later numbers need their slots. A hole goes forward by
-- as many laps as are behind: to the next number of its slot that is spare or has not been taken. Its number in the
-- answer is the first of those that were skipped. Numbers that consumers have taken beyond all pushed messages, as
-- after a crash while they waited, become spare: producers reach these numbers, and their messages find a consumer.
-- {table}          the ring
-- {spare}          spare numbers
-- {repair}         the procedure
-- {requeue_orphan} procedure: requeue an orphan
-- {settle}         procedure: makes taken numbers spare if they were not popped
-- {position}       procedure: the last number taken
-- {size!int}       slots
-- > number         the number that was repaired
-- > was            hole or orphan
-- > became         the new number of an orphan
CREATE PROCEDURE {repair}
    @min_age_s float = 1,
    @wait_ms int = 1000,
    @limit int = 100
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    DECLARE @positions TABLE (side smallint NOT NULL PRIMARY KEY, position bigint NULL);
    DECLARE @orphans TABLE (number bigint NOT NULL, side smallint NOT NULL, PRIMARY KEY (number, side));
    DECLARE @holes TABLE (slot int NOT NULL PRIMARY KEY, number bigint NOT NULL);
    DECLARE @done TABLE (
        place  int        IDENTITY(1, 1) PRIMARY KEY,
        number bigint     NOT NULL,
        was    varchar(6) NOT NULL,
        became bigint     NULL
    );
    DECLARE @side smallint, @position bigint, @number bigint, @became bigint, @left_ms int, @until datetime2(3);
    DECLARE @cutoff datetime2(3), @given int;
    SET @cutoff = DATEADD(MILLISECOND, -CONVERT(int, (@min_age_s - FLOOR(@min_age_s)) * 1000), SYSUTCDATETIME());
    SET @cutoff = DATEADD(SECOND, -CONVERT(int, FLOOR(@min_age_s)), @cutoff);

    SET @until = DATEADD(MILLISECOND, @wait_ms, SYSUTCDATETIME());
    EXEC {position} @side = 0, @position = @position OUTPUT;
    INSERT INTO @positions (side, position) VALUES (0, @position);
    EXEC {position} @side = 1, @position = @position OUTPUT;
    INSERT INTO @positions (side, position) VALUES (1, @position);
    SET @position = (SELECT p.position FROM @positions AS p WHERE p.side = 0);
    IF EXISTS (SELECT * FROM @positions AS p WHERE p.position IS NULL) SET @position = NULL;
    IF @position IS NULL
    BEGIN
        RAISERROR (N'your login may not see the sequences; ask for GRANT VIEW DEFINITION on them', 16, 1);
        RETURN;
    END;

    INSERT INTO @orphans (number, side)
    SELECT TOP (@limit) q.message_id, p.side
    FROM {table} AS q WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK)
    JOIN @positions AS p ON p.side > 0 AND q.message_id <= p.position
    WHERE q.turn = q.message_id + 1
        AND q.time < @cutoff
        AND NOT EXISTS (SELECT * FROM {spare} AS s WITH (NOLOCK) WHERE s.side = p.side AND s.number = q.message_id)
    ORDER BY q.message_id;
    INSERT INTO @holes (slot, number)
    SELECT TOP (@limit) q.slot, q.turn
    FROM {table} AS q WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK)
    WHERE q.turn <= @position
        AND q.reference_count = 0
        AND (q.time < @cutoff OR q.time > SYSUTCDATETIME())
        AND NOT EXISTS (SELECT * FROM {spare} AS s WITH (NOLOCK) WHERE s.side = 0 AND s.number = q.turn)
    ORDER BY q.turn;
    WAITFOR DELAY '00:00:00.050';

    SELECT TOP (1) @number = o.number, @side = o.side FROM @orphans AS o ORDER BY o.number, o.side;
    WHILE @@ROWCOUNT > 0
    BEGIN
        SET @left_ms = DATEDIFF(MILLISECOND, SYSUTCDATETIME(), @until);
        SET @left_ms = CASE WHEN @left_ms > @wait_ms / 4 THEN @wait_ms / 4 WHEN @left_ms < 0 THEN 0 ELSE @left_ms END;
        EXEC {requeue_orphan} @number = @number, @wait_ms = @left_ms, @sure = 1, @became = @became OUTPUT,
            @quiet = 1;
        IF @became IS NOT NULL
            INSERT INTO @done (number, was, became) VALUES (@number, 'orphan', @became);
        SELECT TOP (1) @number = o.number, @side = o.side
        FROM @orphans AS o
        WHERE o.number > @number
            OR o.number = @number AND o.side > @side
        ORDER BY o.number, o.side;
    END;

    SELECT TOP (1) @side = p.side FROM @positions AS p WHERE p.side > 0 ORDER BY p.side;
    WHILE @@ROWCOUNT > 0
    BEGIN
        EXEC {settle} @side = @side, @upto = NULL, @behind = 0, @given = @given OUTPUT;
        SELECT TOP (1) @side = p.side FROM @positions AS p WHERE p.side > @side ORDER BY p.side;
    END;

    UPDATE q
    SET turn = ISNULL(
        (
            SELECT MIN(s.number)
            FROM {spare} AS s WITH (NOLOCK)
            WHERE s.side = 0
                AND s.number > q.turn
                AND s.number % {size!int} = q.slot
        ),
        q.turn + {size!int} * ((@position - q.turn) / {size!int} + 1)
    )
    OUTPUT h.number, 'hole', NULL INTO @done (number, was, became)
    FROM @holes AS h
    INNER LOOP JOIN {table} AS q WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK) ON q.slot = h.slot AND q.turn = h.number
    WHERE q.reference_count = 0
        AND NOT EXISTS (SELECT * FROM {spare} AS s WITH (NOLOCK) WHERE s.side = 0 AND s.number = q.turn)
    OPTION (MAXDOP 1);
    SELECT d.number, d.was, d.became FROM @done AS d ORDER BY d.place;
END;
