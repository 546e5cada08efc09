-- Requeue up to @limit messages that have been in progress for longer than @timeout_s seconds, the longest-running
-- first: ready again at their old place, which is the front, or dead after @max_attempts attempts. Returns the number
-- of moved messages. An addition.
-- @owner: only messages popped by this consumer: after a crash, a consumer with its own name takes back its messages
-- with @timeout_s = 0.
-- Served by the index on rows in progress. Skips messages that a consumer is completing (READPAST), so that it waits
-- for no session.
-- {table}            the queue
-- {requeue}          the procedure
-- {work_index}       index on rows in progress
-- {max_attempts!int} attempts after which a message is dead, unless the caller sets another number
-- > moved      number
CREATE PROCEDURE {requeue}
    @timeout_s float,
    @limit int = 500,
    @max_attempts int = {max_attempts!int},
    @owner varchar(40) = NULL,
    @moved int = NULL OUTPUT,
    @quiet bit = 0
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    DECLARE @cutoff datetime2(3);
    SET @cutoff = DATEADD(MILLISECOND, -CONVERT(int, (@timeout_s - FLOOR(@timeout_s)) * 1000), SYSUTCDATETIME());
    SET @cutoff = DATEADD(SECOND, -CONVERT(int, FLOOR(@timeout_s)), @cutoff);

    WITH stuck AS (
        SELECT TOP (@limit) id, status, attempts, started_at, owner
        FROM {table} WITH (INDEX ({work_index}), ROWLOCK, UPDLOCK, READPAST, READCOMMITTEDLOCK)
        WHERE status = 2
            AND started_at < @cutoff
            AND (@owner IS NULL OR owner = @owner)
        ORDER BY started_at
    )
    UPDATE stuck
    SET status = CASE WHEN attempts >= @max_attempts THEN 3 ELSE 1 END, started_at = NULL, owner = NULL
    OPTION (MAXDOP 1, KEEPFIXED PLAN);
    SET @moved = @@ROWCOUNT;
    IF @quiet = 0 SELECT @moved AS moved;
END;
