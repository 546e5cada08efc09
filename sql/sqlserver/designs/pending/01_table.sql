-- The pending queue (Remus Rusanu, "Using tables as Queues"): each message has a due time, and only due messages are
-- popped.
--
-- Classic columns: due_time (datetime in the article), payload (varbinary(max)). Additions: id (identity),
-- enqueued_at. All times are UTC, as the article urges: no time zone, and no hour twice or never when clocks change.
-- A popped row is deleted in the consumer's own transaction: in progress means an open transaction.
--
-- The primary key is the article's clustered index cdxPendingQueue on the due time, with id as its second column: it
-- makes the key unique (the server would add four hidden bytes of its own), lets messages that are due at the same
-- time be popped in the order of their push, and names each message. A pop reads from the earliest row on and stops
-- at the first that is not due. No other index. Pushes for later go anywhere in the index: no hot last page, but page
-- splits. Settings, as for every queue that lives by INSERT and DELETE:
--   LOCK_ESCALATION = DISABLE: READPAST passes over rows and pages that are locked, not over a table; a consumer that
--   takes some thousand rows in one transaction would stop everybody. The price is lock memory, about 100 bytes a
--   row;
--   ALLOW_PAGE_LOCKS = OFF: a page lock would hide the other ready rows of its page from READPAST;
--   STATISTICS_NORECOMPUTE: statistics are never right for a queue, and bringing them up to date all the time is what
--   makes its throughput jagged (Kejser). No statement of this design is planned by them: see OPTION in pop.
-- No trigger may be put on this table: OUTPUT without INTO, by which pop returns its row, is refused then (error
-- 334).
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
