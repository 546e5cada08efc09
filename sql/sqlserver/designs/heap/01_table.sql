-- The heap queue (Remus Rusanu, "Using tables as Queues"): a table without any index, popped by an atomic DELETE of
-- any row that is not locked. The simplest queue; it promises no order at all.
--
-- Classic column: payload (varbinary(max)). Addition: enqueued_at, when it was pushed, in UTC.
-- No id and no index, as in the article: a message cannot be named, so that it can be acted on in bulk only.
-- A pop deletes the row in the consumer's own transaction: a message in progress is an open transaction.
--
-- A cost of heaps that the article does not mention: pages that a row-locked DELETE has emptied stay in the table. New
-- rows go into them again, but after a backlog every pop walks over the empty ones first. maintain gives them back.
-- Settings:
--   LOCK_ESCALATION = DISABLE: READPAST skips locked rows and pages, but not a locked table. A consumer that pops some
--   thousand rows in one transaction would stop all sessions. The price is lock memory, about 100 bytes per row.
-- A heap has no index statistics, and its page locks cannot be forbidden: the hint ROWLOCK in push and pop sees to it.
-- Do not create a trigger on this table: pop returns its row by OUTPUT without INTO, which the server refuses on a
-- table with a trigger (error 334).
-- {table} the queue
CREATE TABLE {table} (
    payload     varbinary(max) NULL,
    enqueued_at datetime2(3)   NOT NULL DEFAULT SYSUTCDATETIME()
);
ALTER TABLE {table} SET (LOCK_ESCALATION = DISABLE);
