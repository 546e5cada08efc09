-- Complete many messages; returns the number of those that were still in progress. An addition. Each id comes with the
-- attempt that pop returned, as in complete. Gone through in the order of ids (the type's primary key, and the joins
-- are made in the order in which they are written), so that two calls with the same ids wait for each other and do not
-- deadlock.
-- {table}          the queue
-- {complete_batch} the procedure
-- {ids}            type: the ids and attempts
-- > done           number
CREATE PROCEDURE {complete_batch}
    @ids {ids} READONLY,
    @done int = NULL OUTPUT,
    @quiet bit = 0
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    DELETE q
    FROM @ids AS i
    INNER LOOP JOIN {table} AS q WITH (ROWLOCK, UPDLOCK) ON q.id = i.id
    WHERE q.status = 2
        AND q.attempts = i.attempt
    OPTION (MAXDOP 1);
    SET @done = @@ROWCOUNT;
    IF @quiet = 0 SELECT @done AS done;
END;
