-- Move up to @limit processed messages, oldest first, to the archive, in one statement; returns the number of moved
-- messages. An addition, like Al Zabir's continuous archiving: in small batches with a pause between them, it does not
-- disturb producers and consumers, which never touch rows that are processed and committed. Several archivers pass over
-- each other's (READPAST), and a consumer that has not committed is passed over, too.
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
