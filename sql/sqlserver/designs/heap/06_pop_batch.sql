-- Pop up to @limit messages, any of them. An addition: the article pops one at a time. The hints are those of pop.
-- {table}     the queue
-- {pop_batch} the procedure
-- {switch}    ends of the pauses
-- {paused}    procedure: waits or raises an error during a pause
-- > id        NULL: a heap gives no id
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
    DELETE TOP (@limit) FROM {table} WITH (ROWLOCK, UPDLOCK, READPAST, READCOMMITTEDLOCK)
    OUTPUT CAST(NULL AS bigint) AS id, deleted.payload AS payload
    OPTION (MAXDOP 1, KEEPFIXED PLAN);
END;
