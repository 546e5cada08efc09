-- The naive queue (Thomas Kejser, "Implementing Message Queues in Relational Databases"): a table ordered by a
-- sequence number, pushed by INSERT and popped by DELETE. The design that the ring is compared with.
--
-- Classic columns: message_id (int in the article, bigint here), time, message (char(300) in the article). Additions:
-- none; "time" is when the message was pushed, in UTC (the article: GETDATE()).
-- A pop deletes the row in the consumer's own transaction: a message in progress is an open transaction.
--
-- The primary key is the article's clustered index on message_id: it gives the order of pops. Inserts meet at one end
-- of it, deletes at the other: the hot pages (PAGELATCH_EX), and the root that grows and shrinks
-- (ACCESS_METHODS_HOBT_VIRTUAL_ROOT), of which the article complains, are the nature of this design. No other index.
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
    message_id bigint        NOT NULL,
    time       datetime2(3)  NULL,
    message    nvarchar(max) NULL,
    CONSTRAINT {key} PRIMARY KEY CLUSTERED (message_id) WITH (ALLOW_PAGE_LOCKS = OFF, STATISTICS_NORECOMPUTE = ON)
);
ALTER TABLE {table} SET (LOCK_ESCALATION = DISABLE);
