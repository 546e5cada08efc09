-- Pop up to @limit messages, oldest first: they are now in progress. An addition: the article pops one at a time.
-- Rows come as the plan finds them, in the order of the index; SQL Server does not promise that for OUTPUT: sort by
-- id where it matters. The hints are those of pop.
-- {table}       the queue
-- {pop_batch}   the procedure
-- {owner}       procedure: who pops in this session
-- {ready_index} index on ready rows
-- {switch}      until when who is paused
-- {paused}      procedure: waits or refuses while they are
-- > id          the message's id
-- > payload     the message
-- > attempt     how often it has been popped, this time included
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
