-- Move up to @limit processed messages, oldest first, from the table to the archive, in one transaction; returns the
-- number of moved messages. The article's continuous archiving: in small batches with pauses, it does not disturb
-- producers and consumers, because these never lock processed rows. Several archivers skip each other's rows
-- (READPAST).
-- {table}       the queue
-- {archive_log} the archive
-- {archive}     the procedure
-- {done_index}  index: the search order
-- > moved       number
CREATE PROCEDURE {archive}
    @limit int = 500,
    @moved int = NULL OUTPUT,
    @quiet bit = 0
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    WITH oldest AS (
        SELECT TOP (@limit) queue_id, queue_date_time, title, status, attempts, enqueued_at, started_at, completed_at,
            owner, text_data
        FROM {table} WITH (INDEX ({done_index}), ROWLOCK, UPDLOCK, READPAST, READCOMMITTEDLOCK)
        WHERE status = 2
        ORDER BY queue_id
    )
    DELETE FROM oldest
    OUTPUT deleted.queue_id, deleted.queue_date_time, deleted.title, deleted.status, deleted.attempts,
        deleted.enqueued_at, deleted.started_at, deleted.completed_at, deleted.owner, deleted.text_data
    INTO {archive_log} (
        queue_id, queue_date_time, title, status, attempts, enqueued_at, started_at, completed_at, owner, text_data
    )
    OPTION (MAXDOP 1, KEEPFIXED PLAN);
    SET @moved = @@ROWCOUNT;
    IF @quiet = 0 SELECT @moved AS moved;
END;
