-- Pop the newest message that no other consumer is popping; no row if there is none. The article's dequeue of a stack.
--
-- A DELETE through a CTE, since DELETE knows no ORDER BY: one statement finds, locks, deletes and returns the row. Two
-- consumers cannot get the same row, because update locks exclude each other. Rollback puts the message back. The hints
-- and their purposes:
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
-- "No row" is true, but for a push that goes behind the scan, which begins at the newest row: it counts as pushed after
-- the pop. The rows that the scan skips are locked by other sessions.
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
    WITH head AS (
        SELECT TOP (1) id, payload
        FROM {table} WITH (ROWLOCK, UPDLOCK, READPAST, READCOMMITTEDLOCK)
        ORDER BY id DESC
    )
    DELETE FROM head
    OUTPUT deleted.id AS id, deleted.payload AS payload
    OPTION (MAXDOP 1, KEEPFIXED PLAN);
END;
