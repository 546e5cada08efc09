-- The queue with a flag (Remus Rusanu, answering "Using SQL Server as a DB queue with multiple clients"): a pop marks
-- its message processed, in one statement, and the row stays until the archiver takes it away. There is no state
-- between ready and processed: a consumer that pops and commits has the message for good. A consumer that works inside
-- the transaction gives the message back by rolling back.
--
-- Classic columns: processed (0, 1), id, command. Additions: enqueued_at, processed_at (both UTC); the archive.
--
-- The primary key (processed, id) is the article's clustered index, with the flag first: ready rows are together at its
-- beginning, in the order of pops, however many processed rows there are; the archiver finds processed rows behind
-- them, oldest first. A pop moves its row from the one range to the other: a delete and an insert in one B-tree. No
-- other index: the article favours no secondary index over a queue, since every one is written by every push and pop;
-- two are also what deadlocks are made of.
-- The article's third rule: only pop queries this table. So count it by its partition statistics, not by SELECT.
-- Settings of the table:
--   LOCK_ESCALATION = DISABLE: READPAST skips locked rows and pages, but not a locked table. A caller that works on
--   some thousand rows in one transaction would stop all sessions. The price is lock memory, about 100 bytes per row;
--   ALLOW_PAGE_LOCKS = OFF: a page lock would hide the other ready rows of its page from READPAST;
--   STATISTICS_NORECOMPUTE: statistics are never right for a queue, and constant updates of statistics make its
--   throughput uneven (Kejser). The plans of this design do not depend on statistics: each names its index.
-- Do not create a trigger on this table: pop returns its row by OUTPUT without INTO, which the server refuses on a
-- table with a trigger (error 334).
-- {table}       the queue
-- {key}         its primary key
-- {archive_log} messages moved by the archiver
CREATE TABLE {table} (
    processed    tinyint       NOT NULL DEFAULT 0,
    id           bigint        IDENTITY(1, 1) NOT NULL,
    command      nvarchar(max) NULL,
    enqueued_at  datetime2(3)  NOT NULL DEFAULT SYSUTCDATETIME(),
    processed_at datetime2(3)  NULL,
    CONSTRAINT {key} PRIMARY KEY CLUSTERED (processed, id)
        WITH (ALLOW_PAGE_LOCKS = OFF, STATISTICS_NORECOMPUTE = ON)
);
ALTER TABLE {table} SET (LOCK_ESCALATION = DISABLE);

-- Nothing but inserts, in the order of archiving. archive_id numbers them: who copies the archive goes on from there.
CREATE TABLE {archive_log} (
    archive_id   bigint        IDENTITY(1, 1) NOT NULL PRIMARY KEY,
    id           bigint        NOT NULL,
    command      nvarchar(max) NULL,
    enqueued_at  datetime2(3)  NOT NULL,
    processed_at datetime2(3)  NULL,
    archived_at  datetime2(3)  NOT NULL DEFAULT SYSUTCDATETIME()
);
