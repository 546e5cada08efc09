-- The naive queue (Thomas Kejser, "Implementing Message Queues in Relational Databases"): a table ordered by a
-- sequence number, pushed by INSERT and popped by DELETE. The design that the ring is compared with.
--
-- Classic columns: message_id (int in the article, bigint here), time, message (char(300) in the article). Additions:
-- none; "time" is when the message was pushed, in UTC (the article: GETDATE()).
-- A popped row is deleted in the consumer's own transaction: in progress means an open transaction.
--
-- The primary key is the article's clustered index on message_id: it gives pop its order. Inserts meet at one end of
-- it, deletes at the other: the hot pages (PAGELATCH_EX), and the root that grows and shrinks
-- (ACCESS_METHODS_HOBT_VIRTUAL_ROOT), of which the article complains, are the nature of this design. No other index.
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
    message_id bigint        NOT NULL,
    time       datetime2(3)  NULL,
    message    nvarchar(max) NULL,
    CONSTRAINT {key} PRIMARY KEY CLUSTERED (message_id) WITH (ALLOW_PAGE_LOCKS = OFF, STATISTICS_NORECOMPUTE = ON)
);
ALTER TABLE {table} SET (LOCK_ESCALATION = DISABLE);
