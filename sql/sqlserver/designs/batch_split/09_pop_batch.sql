-- Pop up to @limit messages, earliest first: they are now processing. The article's Dequeue: as DequeueSlow, but on
-- the small rows; the payloads are fetched at the end, once.
--
-- Published as a reference, to be measured against; the hints are the article's:
--   UPDLOCK: the session that selected a row may update it, and no other session can select it for an update: two
--   consumers cannot get the same row; the second one waits;
--   HOLDLOCK: key ranges are locked, too, until the end: what came into the range between select and update would else
--   make the batch another one. The price: producers whose time falls into the range wait for the consumer, and if
--   fewer than @limit messages are ready, the range is open to the end, so that every push waits.
-- No READPAST: consumers take turns. INDEX: an addition, the article's own index named, so that the plan does not hang
-- on statistics; processed rows lie in it before the ready ones, and every pop reads over those not archived yet.
-- Deadlocks: possible, by the nature of select-then-update: a producer with two messages in one transaction holds the
-- key of the first, for which the consumer waits, and wants to insert the second into the consumer's range. The victim
-- (error 1205) must retry; batch_fast has no such deadlocks.
-- If a row was missed, which the locks exclude, nothing is taken and no row returned, as in the article; a savepoint,
-- because ROLLBACK would roll back the caller's transaction.
-- @owner: name of the consumer; NULL: this session. Pop counts the attempt, not fail, so that the crash of a consumer
-- also counts.
-- {table}           the queue
-- {data}            QueueData
-- {pop_batch}       the procedure
-- {owner}           procedure: name of the consumer in this session
-- {date_index}      index: the order of pops
-- {switch}          ends of the pauses
-- {paused}          procedure: waits or raises an error during a pause
-- > id              the message's id
-- > payload         the message
-- > attempt         number of pops, including this one
-- > title           its title
-- > queue_date_time its place in the order
CREATE PROCEDURE {pop_batch}
    @limit int = 10,
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
    DECLARE @batch TABLE (
        queue_id        bigint        NOT NULL PRIMARY KEY,
        queue_date_time datetime2(3)  NOT NULL,
        attempts        int           NOT NULL,
        title           nvarchar(255) NOT NULL
    );
    DECLARE @selected int;
    IF @owner IS NULL EXEC {owner} @owner = @owner OUTPUT;

    BEGIN TRANSACTION;
    SAVE TRANSACTION qmon_pop;
    INSERT INTO @batch (queue_id, queue_date_time, title, attempts)
    SELECT TOP (@limit) queue_id, queue_date_time, title, attempts + 1
    FROM {table} WITH (INDEX ({date_index}), UPDLOCK, HOLDLOCK, ROWLOCK)
    WHERE status = 0
    ORDER BY queue_date_time
    OPTION (MAXDOP 1, KEEPFIXED PLAN);
    SET @selected = @@ROWCOUNT;
    UPDATE q
    SET status = 1, started_at = SYSUTCDATETIME(), owner = @owner, attempts = q.attempts + 1
    FROM @batch AS b
    INNER LOOP JOIN {table} AS q WITH (ROWLOCK) ON q.queue_id = b.queue_id
    WHERE q.status = 0
    OPTION (MAXDOP 1);
    IF @@ROWCOUNT <> @selected
    BEGIN
        ROLLBACK TRANSACTION qmon_pop;
        DELETE FROM @batch;
    END;
    COMMIT TRANSACTION;

    SELECT b.queue_id AS id, d.text_data AS payload, b.attempts AS attempt, b.title, b.queue_date_time
    FROM @batch AS b
    LEFT OUTER LOOP JOIN {data} AS d WITH (READCOMMITTEDLOCK) ON d.queue_id = b.queue_id
    ORDER BY b.queue_date_time, b.queue_id
    OPTION (MAXDOP 1);
END;
