-- The heap queue (Remus Rusanu, "Using tables as Queues"): a table without any index, popped by an atomic DELETE of
-- any row that is not locked. The simplest queue; it promises no order at all.
--
-- Classic column: payload (varbinary(max)). Addition: enqueued_at, when it was pushed, in UTC.
-- No id and no index, as in the article: a message cannot be named, so that it can be acted on in bulk only.
-- A popped row is deleted in the consumer's own transaction: in progress means an open transaction.
--
-- A cost of heaps that the article does not mention: pages that a row-locked DELETE has emptied stay in the table. New
-- rows go into them again, but after a backlog every pop walks over the empty ones first. maintain gives them back.
-- Settings:
--   LOCK_ESCALATION = DISABLE: READPAST passes over rows and pages that are locked, not over a table; a consumer that
--   takes some thousand rows in one transaction would stop everybody. The price is lock memory, about 100 bytes a
--   row.
-- A heap has no index statistics, and its page locks cannot be forbidden: the hint ROWLOCK in push and pop sees to
-- it. No trigger may be put on this table: OUTPUT without INTO, by which pop returns its row, is refused then (error
-- 334).
-- {table} the queue
CREATE TABLE {table} (
    payload     varbinary(max) NULL,
    enqueued_at datetime2(3)   NOT NULL DEFAULT SYSUTCDATETIME()
);
ALTER TABLE {table} SET (LOCK_ESCALATION = DISABLE);
