-- Move up to @limit processed messages, oldest first, from both tables to the archive, in one transaction; returns the
-- number of moved messages. The article's continuous archiving: in small batches with pauses, it does not disturb
-- producers and consumers, because these never lock processed rows. Several archivers skip each other's rows
-- (READPAST). First the small rows, then the payloads of just those, by key: the tables are locked in the order in
-- which push locks them.
-- {table}       QueueMeta
-- {data}        QueueData
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

    DECLARE @old TABLE (
        queue_id        bigint        NOT NULL PRIMARY KEY,
        queue_date_time datetime2(3)  NOT NULL,
        title           nvarchar(255) NOT NULL,
        status          int           NOT NULL,
        attempts        int           NOT NULL,
        enqueued_at     datetime2(3)  NOT NULL,
        started_at      datetime2(3)  NULL,
        completed_at    datetime2(3)  NULL,
        owner           char(40)      NULL
    );
    BEGIN TRANSACTION;
    WITH oldest AS (
        SELECT TOP (@limit) queue_id, queue_date_time, title, status, attempts, enqueued_at, started_at, completed_at,
            owner
        FROM {table} WITH (INDEX ({done_index}), ROWLOCK, UPDLOCK, READPAST, READCOMMITTEDLOCK)
        WHERE status = 2
        ORDER BY queue_id
    )
    DELETE FROM oldest
    OUTPUT deleted.queue_id, deleted.queue_date_time, deleted.title, deleted.status, deleted.attempts,
        deleted.enqueued_at, deleted.started_at, deleted.completed_at, deleted.owner
    INTO @old (queue_id, queue_date_time, title, status, attempts, enqueued_at, started_at, completed_at, owner)
    OPTION (MAXDOP 1, KEEPFIXED PLAN);
    SET @moved = @@ROWCOUNT;
    INSERT INTO {archive_log} (
        queue_id, queue_date_time, title, status, attempts, enqueued_at, started_at, completed_at, owner, text_data
    )
    SELECT o.queue_id, o.queue_date_time, o.title, o.status, o.attempts, o.enqueued_at, o.started_at, o.completed_at,
        o.owner, d.text_data
    FROM @old AS o
    LEFT OUTER LOOP JOIN {data} AS d WITH (READCOMMITTEDLOCK) ON d.queue_id = o.queue_id
    OPTION (MAXDOP 1);
    DELETE d
    FROM @old AS o
    INNER LOOP JOIN {data} AS d WITH (ROWLOCK) ON d.queue_id = o.queue_id
    OPTION (MAXDOP 1);
    COMMIT TRANSACTION;
    IF @quiet = 0 SELECT @moved AS moved;
END;
