-- Pop up to @limit messages, newest first. An addition: the article pops one at a time.
-- Rows are returned in the order of the index, in which the plan finds them. SQL Server does not guarantee this order
-- for OUTPUT: sort by id if the order matters. The hints are those of pop.
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
        FROM {table} WITH (ROWLOCK, UPDLOCK, READPAST, READCOMMITTEDLOCK)
        ORDER BY id DESC
    )
    DELETE FROM head
    OUTPUT deleted.id AS id, deleted.payload AS payload
    OPTION (MAXDOP 1, KEEPFIXED PLAN);
END;
