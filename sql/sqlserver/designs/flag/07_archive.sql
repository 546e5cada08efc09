-- Move up to @limit processed messages, oldest first, to the archive, in one statement; returns the number of moved
-- messages. An addition, like Al Zabir's continuous archiving: in small batches with pauses, it does not disturb
-- producers and consumers, because these never touch rows that are processed and committed. Several archivers skip each
-- other's rows (READPAST), and also rows of a consumer that has not committed.
-- {table}       the queue
-- {archive_log} the archive
-- {archive}     the procedure
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
        SELECT TOP (@limit) processed, id, command, enqueued_at, processed_at
        FROM {table} WITH (ROWLOCK, UPDLOCK, READPAST, READCOMMITTEDLOCK)
        WHERE processed = 1
        ORDER BY id
    )
    DELETE FROM oldest
    OUTPUT deleted.id, deleted.command, deleted.enqueued_at, deleted.processed_at
    INTO {archive_log} (id, command, enqueued_at, processed_at)
    OPTION (MAXDOP 1, KEEPFIXED PLAN);
    SET @moved = @@ROWCOUNT;
    IF @quiet = 0 SELECT @moved AS moved;
END;
