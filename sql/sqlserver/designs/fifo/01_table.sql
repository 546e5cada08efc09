-- The FIFO queue (Remus Rusanu, "Using tables as Queues"): ordered by a clustered identity, popped by an atomic DELETE
-- that skips locked rows. Lax order: if a consumer rolls back, other consumers may already have popped later messages.
--
-- Classic columns: id (identity), payload (varbinary(max)). Addition: enqueued_at, when it was pushed, in UTC.
-- A popped row is deleted in the consumer's own transaction: in progress means an open transaction.
--
-- The primary key is the article's clustered index cdxFifoQueue: it gives pop its order. No other index: Rusanu
-- favours no secondary index over a queue, and none is needed.
-- Identities are given out in order, for the whole server; a crash burns up to 10,000 of them, a rollback the one it
-- drew: gaps, which nothing here minds.
-- Settings, as for every queue that lives by INSERT and DELETE:
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
    id          bigint         IDENTITY(1, 1) NOT NULL,
    payload     varbinary(max) NULL,
    enqueued_at datetime2(3)   NOT NULL DEFAULT SYSUTCDATETIME(),
    CONSTRAINT {key} PRIMARY KEY CLUSTERED (id) WITH (ALLOW_PAGE_LOCKS = OFF, STATISTICS_NORECOMPUTE = ON)
);
ALTER TABLE {table} SET (LOCK_ESCALATION = DISABLE);
