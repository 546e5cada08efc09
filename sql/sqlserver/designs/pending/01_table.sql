-- The pending queue (Remus Rusanu, "Using tables as Queues"): each message has a due time, and only due messages are
-- popped.
--
-- Classic columns: due_time (datetime in the article), payload (varbinary(max)). Additions: id (identity), enqueued_at.
-- All times are UTC, as the article urges: no time zone, and no hour twice or never when clocks change. A pop deletes
-- the row in the consumer's own transaction: a message in progress is an open transaction.
--
-- The primary key is the article's clustered index cdxPendingQueue on the due time, with id as its second column: it
-- makes the key unique (the server would add four hidden bytes of its own), lets messages that are due at the same time
-- be popped in the order of their push, and names each message. A pop reads from the earliest row on and stops at the
-- first that is not due. No other index. Pushes for later go anywhere in the index: no hot last page, but page splits.
-- Settings, as for every queue that uses INSERT and DELETE:
--   LOCK_ESCALATION = DISABLE: READPAST skips locked rows and pages, but not a locked table. A consumer that pops some
--   thousand rows in one transaction would stop all sessions. The price is lock memory, about 100 bytes per row;
--   ALLOW_PAGE_LOCKS = OFF: a page lock would hide the other ready rows of its page from READPAST;
--   STATISTICS_NORECOMPUTE: statistics are never right for a queue, and constant updates of statistics make its
--   throughput uneven (Kejser). The plans of this design do not depend on statistics: see OPTION in pop.
-- Do not create a trigger on this table: pop returns its row by OUTPUT without INTO, which the server refuses on a
-- table with a trigger (error 334).
-- {table} the queue
-- {key}   its primary key
CREATE TABLE {table} (
    due_time    datetime2(3)   NOT NULL,
    id          bigint         IDENTITY(1, 1) NOT NULL,
    payload     varbinary(max) NULL,
    enqueued_at datetime2(3)   NOT NULL DEFAULT SYSUTCDATETIME(),
    CONSTRAINT {key} PRIMARY KEY CLUSTERED (due_time, id)
        WITH (ALLOW_PAGE_LOCKS = OFF, STATISTICS_NORECOMPUTE = ON)
);
ALTER TABLE {table} SET (LOCK_ESCALATION = DISABLE);
