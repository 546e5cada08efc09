-- Pop up to @limit messages, oldest first. An addition: the article pops one at a time. Waits like pop for locked rows,
-- also for the last rows of the batch that a producer has not committed: to avoid that wait, ask for fewer. Rows are
-- returned in the order of the index, in which the plan finds them. SQL Server does not guarantee this order for
-- OUTPUT: sort by id if the order matters. The hints are those of pop.
-- {table}     the queue
-- {pop_batch} the procedure
-- {switch}    ends of the pauses
-- {paused}    procedure: waits or raises an error during a pause
-- > id        the message's id
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
    WITH head AS (
        SELECT TOP (@limit) id, payload
        FROM {table} WITH (ROWLOCK, UPDLOCK, READCOMMITTEDLOCK)
        ORDER BY id
    )
    DELETE FROM head
    OUTPUT deleted.id AS id, deleted.payload AS payload
    OPTION (MAXDOP 1, KEEPFIXED PLAN);
END;
