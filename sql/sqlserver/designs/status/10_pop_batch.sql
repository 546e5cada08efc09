-- Pop up to @limit messages, oldest first: they are now in progress. An addition: the article pops one at a time. Rows
-- are returned in the order of the index, in which the plan finds them. SQL Server does not guarantee this order for
-- OUTPUT: sort by id if the order matters. The hints are those of pop.
-- {table}       the queue
-- {pop_batch}   the procedure
-- {owner}       procedure: name of the consumer in this session
-- {ready_index} index on ready rows
-- {switch}      ends of the pauses
-- {paused}      procedure: waits or raises an error during a pause
-- > id          the message's id
-- > payload     the message
-- > attempt     number of pops, including this one
CREATE PROCEDURE {pop_batch}
    @limit int,
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
        SELECT TOP (@limit) id, status, attempts, started_at, owner, message
        FROM {table} WITH (INDEX ({ready_index}), ROWLOCK, UPDLOCK, READPAST, READCOMMITTEDLOCK)
        WHERE status = 1
        ORDER BY id
    )
    UPDATE head
    SET status = 2, started_at = SYSUTCDATETIME(), owner = @owner, attempts = attempts + 1
    OUTPUT inserted.id AS id, inserted.message AS payload, inserted.attempts AS attempt
    OPTION (MAXDOP 1, KEEPFIXED PLAN);
END;
