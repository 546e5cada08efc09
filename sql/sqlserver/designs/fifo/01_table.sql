-- The FIFO queue (Remus Rusanu, "Using tables as Queues"): ordered by a clustered identity, popped by an atomic DELETE
-- that skips locked rows. Lax order: if a consumer rolls back, other consumers may already have popped later messages.
--
-- Classic columns: id (identity), payload (varbinary(max)). Addition: enqueued_at, when it was pushed, in UTC.
-- A pop deletes the row in the consumer's own transaction: a message in progress is an open transaction.
--
-- The primary key is the article's clustered index cdxFifoQueue: it gives the order of pops. No other index: Rusanu
-- favours no secondary index over a queue, and none is needed.
-- Identities are assigned in order, for the whole server. A crash skips up to 10,000 identities, and a rollback skips
-- one: these gaps do no harm.
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
    id          bigint         IDENTITY(1, 1) NOT NULL,
    payload     varbinary(max) NULL,
    enqueued_at datetime2(3)   NOT NULL DEFAULT SYSUTCDATETIME(),
    CONSTRAINT {key} PRIMARY KEY CLUSTERED (id) WITH (ALLOW_PAGE_LOCKS = OFF, STATISTICS_NORECOMPUTE = ON)
);
ALTER TABLE {table} SET (LOCK_ESCALATION = DISABLE);
