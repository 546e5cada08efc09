-- The queue with a status column (Joe Buschmann, "A Poor Man's Queue"): a popped message stays, in progress, until it
-- is completed; then its row is deleted. Delivery is at least once: a message whose consumer died is requeued, and the
-- attempt counts.
--
-- Classic columns: id (int identity, bigint here), status (tinyint: 1 ready, 2 in progress), message (varbinary(max)).
-- Additions: status 3 dead (a message that failed too often), enqueued_at, started_at (popped; both UTC), owner (its
-- consumer), attempts (number of pops).
-- owner is "session/login", the server's session number and the login time of that session, to the millisecond, as in
-- 61/2024-05-01T12:00:00.123: together they identify one session forever. It is dead when sys.dm_exec_sessions shows no
-- session of that number and time. A session that a connection pool hands on counts as a new login (Audit Login), and
-- so as another session; if the server keeps the time, messages it had popped look alive while the pool keeps the
-- session. That proves something about the message only if consumers keep their session while they work. A consumer may
-- use its own name instead (Kejser's comments: a number that the process creates when it starts and keeps on its disk),
-- and after a crash requeue the messages it had under that name. char and not varchar: a row that grew at its pop would
-- split its page.
--
-- The article has no index at all. The primary key, clustered on id, serves complete and fail; the payload lies in it
-- and is not moved when the status changes, as it would be if the status led the key (that is design flag).
-- Settings of the table:
--   LOCK_ESCALATION = DISABLE: READPAST skips locked rows and pages, but not a locked table. A caller that works on
--   some thousand rows in one transaction would stop all sessions. The price is lock memory, about 100 bytes per row;
--   ALLOW_PAGE_LOCKS = OFF: a page lock would hide the other ready rows of its page from READPAST;
--   STATISTICS_NORECOMPUTE: statistics are never right for a queue, and constant updates of statistics make its
--   throughput uneven (Kejser). The plans of this design do not depend on statistics: each names its index.
-- Do not create a trigger on this table: pop returns its row by OUTPUT without INTO, which the server refuses on a
-- table with a trigger (error 334).
-- {table} the queue
-- {key}   its primary key
CREATE TABLE {table} (
    id          bigint         IDENTITY(1, 1) NOT NULL,
    status      tinyint        NOT NULL DEFAULT 1,
    attempts    int            NOT NULL DEFAULT 0,
    enqueued_at datetime2(3)   NOT NULL DEFAULT SYSUTCDATETIME(),
    started_at  datetime2(3)   NULL,
    owner       char(40)       NULL,
    message     varbinary(max) NULL,
    CONSTRAINT {key} PRIMARY KEY CLUSTERED (id) WITH (ALLOW_PAGE_LOCKS = OFF, STATISTICS_NORECOMPUTE = ON)
);
ALTER TABLE {table} SET (LOCK_ESCALATION = DISABLE);
