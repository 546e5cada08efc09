-- Pop the message that has been due longest and that no other consumer is popping; no row if none is due. The article's
-- usp_dequeuePending.
--
-- A DELETE through a CTE, since DELETE knows no ORDER BY: one statement finds, locks, deletes and returns the row. Two
-- consumers cannot get the same row, because update locks exclude each other. Rollback puts the message back. The
-- present is taken once, in UTC and by the server's clock, as in the article; nothing is popped before it is due. The
-- hints and their purposes:
--   READPAST: skips rows that other sessions have locked: consumers do not wait for each other (Rusanu, Buschmann, Al
--   Zabir);
--   ROWLOCK: only that row is locked, so that READPAST does not skip its neighbours (Rusanu, Buschmann; Kejser for the
--   ring);
--   UPDLOCK: the row stays locked from the moment when it is read: DELETE and UPDATE do that for the rows of their
--   target, which is Rusanu's argument; written out (Al Zabir) it holds whatever the plan;
--   READCOMMITTEDLOCK: an addition: locks, not row versions, if the database has READ_COMMITTED_SNAPSHOT: READPAST
--   fails or has no effect on versions. The isolation level is set for the same reason: READPAST fails under
--   SERIALIZABLE, the default of a .NET TransactionScope, and under SNAPSHOT.
-- MAXDOP 1 and KEEPFIXED PLAN: never parallel, and never planned again because statistics have changed.
-- No deadlock among producers and consumers: a pop never waits for their locks, and a push locks no existing rows.
-- "No row" is true: the scan reads rows as they are when it reaches them, up to the end of the index, and the rows it
-- skips are locked by others (a consumer or a producer that has not committed).
-- {table}   the queue
-- {pop}     the procedure
-- {switch}  ends of the pauses
-- {paused}  procedure: waits or raises an error during a pause
-- > id      the message's id
-- > payload the message
CREATE PROCEDURE {pop}
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
    DECLARE @now datetime2(3);
    SET @now = SYSUTCDATETIME();

    WITH head AS (
        SELECT TOP (1) id, payload, due_time
        FROM {table} WITH (ROWLOCK, UPDLOCK, READPAST, READCOMMITTEDLOCK)
        WHERE due_time <= @now
        ORDER BY due_time, id
    )
    DELETE FROM head
    OUTPUT deleted.id AS id, deleted.payload AS payload
    OPTION (MAXDOP 1, KEEPFIXED PLAN);
END;
