-- Pop the oldest message; no row if there is none. Waits while another consumer has it, or a producer has not committed
-- it: as long as SET LOCK_TIMEOUT of the session allows (error 1222).
--
-- The article's usp_dequeueFifo without READPAST, which is all the difference. A consumer that has waited finds the row
-- gone and goes on to the next one within the same statement: it never reports an empty queue that is not empty. If the
-- other one rolled back, it gets that message, in its order.
-- The hints and their purposes:
--   no READPAST: order before concurrency (Rusanu);
--   ROWLOCK: only the first row is waited for, not the page with the rows that are being pushed (Rusanu);
--   UPDLOCK: the row found stays locked from the moment it is read; two that read it first with a lock that both may
--   have, and then want to delete it, would deadlock;
--   READCOMMITTEDLOCK: an addition: it waits for locked rows; READ_COMMITTED_SNAPSHOT would show an old version.
-- MAXDOP 1 and KEEPFIXED PLAN: never parallel, and never planned again because statistics have changed.
-- Deadlock: a pop waits for one row and holds none that another pop or push waits for. A transaction that pushes and
-- pops in the same queue can deadlock with another one; the victim (error 1205) tries again.
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
        FROM {table} WITH (ROWLOCK, UPDLOCK, READCOMMITTEDLOCK)
        ORDER BY id
    )
    DELETE FROM head
    OUTPUT deleted.id AS id, deleted.payload AS payload
    OPTION (MAXDOP 1, KEEPFIXED PLAN);
END;
