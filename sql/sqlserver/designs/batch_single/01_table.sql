-- One wide table with select-then-update batches (Omar Al Zabir, "Building High Performance Queue in Database",
-- QueueSlow): the slow reference, to be compared with. Everything in one row, an index in which processed rows stay,
-- and a dequeue that selects and locks a batch with its payloads, then updates it. A processed row stays until the
-- archiver moves it. Delivery is at least once: a message whose consumer died goes back to the front, and the attempt
-- counts.
--
-- Classic columns: queue_id (int identity, bigint here), queue_date_time, title, status (0 ready, 1 processing; 2
-- processed, said in the text), text_data. Additions: status 3 dead (failed too often), enqueued_at, started_at,
-- completed_at, owner, attempts; the archive. All times are UTC.
-- owner is "session/login", the server's session number and the login time of that session, to the millisecond, as in
-- 61/2024-05-01T12:00:00.123: together they identify one session forever. It is dead when sys.dm_exec_sessions shows no
-- session of that number and time. A session that a connection pool hands on counts as a new login (Audit Login), and
-- so as another session; if the server keeps the time, messages it had popped look alive while the pool keeps the
-- session. That proves something about the message only if consumers keep their session while they work. A consumer may
-- use its own name instead (Kejser's comments: a number that the process creates when it starts and keeps on its disk),
-- and after a crash requeue the messages it had under that name. char and not varchar: a row that grew at its pop would
-- split its page.
--
-- queue_date_time is not always the time of the push, but the time when the message should be processed: messages with
-- an earlier time go first. That is the article's priority: "an hour earlier" is a head start of one hour over all
-- other messages and no more, so that no message waits forever behind urgent ones.
--
-- The primary key is the article's unique clustered index PK_QueueSlow. Until 2008 R2 it could not be rebuilt online,
-- since the payload is in it: the article's reason to split the table; from 2012 on it can, in the editions that
-- rebuild online. Settings, which are additions:
--   LOCK_ESCALATION = DISABLE: READPAST skips locked rows and pages, but not a locked table. A batch of some thousand
--   rows would stop all sessions. The price is lock memory, about 100 bytes per row;
--   page locks stay allowed, unlike in the designs without an archive, because ALTER INDEX … REORGANIZE needs them;
--   every statement has ROWLOCK instead;
--   STATISTICS_NORECOMPUTE: statistics are never right for a queue, and constant updates of statistics make its
--   throughput uneven (Kejser). The plans of this design do not depend on statistics: each names its index.
-- Do not create a trigger on these tables: pop returns its rows by OUTPUT without INTO, which the server refuses on a
-- table with a trigger (error 334).
-- {table}       QueueSlow
-- {archive_log} messages moved by the archiver
-- {key}         its primary key
CREATE TABLE {table} (
    queue_id        bigint        IDENTITY(1, 1) NOT NULL,
    queue_date_time datetime2(3)  NOT NULL DEFAULT SYSUTCDATETIME(),
    status          int           NOT NULL DEFAULT 0,
    attempts        int           NOT NULL DEFAULT 0,
    enqueued_at     datetime2(3)  NOT NULL DEFAULT SYSUTCDATETIME(),
    started_at      datetime2(3)  NULL,
    completed_at    datetime2(3)  NULL,
    owner           char(40)      NULL,
    title           nvarchar(255) NOT NULL DEFAULT N'',
    text_data       nvarchar(max) NOT NULL,
    CONSTRAINT {key} PRIMARY KEY CLUSTERED (queue_id) WITH (STATISTICS_NORECOMPUTE = ON)
);
ALTER TABLE {table} SET (LOCK_ESCALATION = DISABLE);

-- Nothing but inserts, in the order of archiving. archive_id numbers them: who copies the archive goes on from there.
CREATE TABLE {archive_log} (
    archive_id      bigint        IDENTITY(1, 1) NOT NULL PRIMARY KEY,
    queue_id        bigint        NOT NULL,
    queue_date_time datetime2(3)  NOT NULL,
    title           nvarchar(255) NOT NULL,
    status          int           NOT NULL,
    attempts        int           NOT NULL,
    enqueued_at     datetime2(3)  NOT NULL,
    started_at      datetime2(3)  NULL,
    completed_at    datetime2(3)  NULL,
    owner           char(40)      NULL,
    text_data       nvarchar(max) NULL,
    archived_at     datetime2(3)  NOT NULL DEFAULT SYSUTCDATETIME()
);
