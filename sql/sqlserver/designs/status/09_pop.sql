-- Pop the oldest ready message that no other consumer is popping: it is now in progress. Returns no row if there is
-- none. The article's DequeueMessage: select, mark and return in one statement, so that two consumers cannot get the
-- same row: update locks exclude each other.
-- @owner: name of the consumer; NULL: this session.
-- Pop counts the attempt, not fail, so that the crash of a consumer also counts.
-- The hints and their purposes:
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
-- The index is named: statistics would often say that the queue is empty, and the plan made from that would read the
-- table. READPAST skips a row that is locked in that index or in the table: a consumer never waits.
-- No deadlock among producers and consumers: a pop never waits for their locks.
-- Another session that reads the table by an index on a state with shared locks (READ COMMITTED without row versions)
-- may deadlock with a pop, a complete or a fail: the reader holds a key of that index and waits for the row, and the
-- other session has changed the row and waits for the key. The server ends the session that has written less, usually
-- the reader (error 1205). Readers avoid this with READ_COMMITTED_SNAPSHOT or NOLOCK. qmon uses READ UNCOMMITTED.
-- "No row" is true: the scan reads rows as they are when it reaches them, up to the end of the index, and the rows it
-- skips are locked by others (a consumer or a producer that has not committed).
-- {table}       the queue
-- {pop}         the procedure
-- {owner}       procedure: name of the consumer in this session
-- {ready_index} index on ready rows
-- {switch}      ends of the pauses
-- {paused}      procedure: waits or raises an error during a pause
-- > id          the message's id
-- > payload     the message
-- > attempt     number of pops, including this one
CREATE PROCEDURE {pop}
    @owner varchar(40) = NULL
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
    IF @owner IS NULL EXEC {owner} @owner = @owner OUTPUT;
    WITH head AS (
        SELECT TOP (1) id, status, attempts, started_at, owner, message
        FROM {table} WITH (INDEX ({ready_index}), ROWLOCK, UPDLOCK, READPAST, READCOMMITTEDLOCK)
        WHERE status = 1
        ORDER BY id
    )
    UPDATE head
    SET status = 2, started_at = SYSUTCDATETIME(), owner = @owner, attempts = attempts + 1
    OUTPUT inserted.id AS id, inserted.message AS payload, inserted.attempts AS attempt
    OPTION (MAXDOP 1, KEEPFIXED PLAN);
END;
