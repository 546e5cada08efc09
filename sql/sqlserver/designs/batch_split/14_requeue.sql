-- Requeue up to @limit messages that have been processing for longer than @timeout_s seconds, the longest-running
-- first. The article sends these messages to the front: they get a queue_date_time before that of every ready message
-- that was never popped, and keep their order among messages that were popped before. A message that has had
-- @max_attempts attempts becomes dead. Returns the number of moved messages.
-- @owner: only messages popped by this consumer: after a crash, a consumer with its own name takes back its messages
-- with @timeout_s = 0.
-- Skips messages that a consumer is completing (READPAST), so that it waits for no session. The front is looked up
-- without locks: whether the message at it is just being popped does not matter.
-- {table}            the queue
-- {requeue}          the procedure
-- {work_index}       index: the search order
-- {date_index}       index: the front
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

    DECLARE @front datetime2(3);
    SELECT TOP (1) @front = DATEADD(MILLISECOND, -1, q.queue_date_time)
    FROM {table} AS q WITH (INDEX ({date_index}), NOLOCK)
    WHERE q.status = 0
        AND q.attempts = 0
    ORDER BY q.queue_date_time
    OPTION (MAXDOP 1, KEEPFIXED PLAN);

    -- Equal times are popped by id. Where all is popped, or the old place is before the front already, it stays.
    WITH stuck AS (
        SELECT TOP (@limit) queue_id, status, attempts, queue_date_time, started_at, owner
        FROM {table} WITH (INDEX ({work_index}), ROWLOCK, UPDLOCK, READPAST, READCOMMITTEDLOCK)
        WHERE status = 1
            AND started_at < @cutoff
            AND (@owner IS NULL OR owner = @owner)
        ORDER BY started_at
    )
    UPDATE stuck
    SET status = CASE WHEN attempts >= @max_attempts THEN 3 ELSE 0 END,
        queue_date_time = CASE WHEN @front < queue_date_time THEN @front ELSE queue_date_time END,
        started_at = NULL,
        owner = NULL
    OPTION (MAXDOP 1, KEEPFIXED PLAN);
    SET @moved = @@ROWCOUNT;
    IF @quiet = 0 SELECT @moved AS moved;
END;
