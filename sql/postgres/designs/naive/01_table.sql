-- The naive queue (Thomas Kejser, "Implementing Message Queues in Relational Databases"): a table ordered by a sequence
-- number, pushed by INSERT and popped by DELETE. The design that the ring is compared with.
--
-- Classic columns: message_id, time, message (char(300) in the article, text here). Additions: none; "time" is when the
-- message was pushed. A pop deletes the row in the consumer's own transaction: a message in progress is an open
-- transaction.
--
-- The sequence has CACHE 1: PostgreSQL caches numbers per session, and the numbers of sessions would then mix.
-- The primary key is the article's clustered index: it gives the order of pops, and a dashboard uses it to find the
-- oldest message, starting at a known id, and to count a limited number of messages, without reading the whole queue.
--
-- Settings of the table, as for every queue that uses INSERT and DELETE:
--   vacuum after 1,000 dead rows whatever the size of the table, without throttling, because every pop reads the dead
--   rows before the oldest message;
--   no vacuum after inserts, because rows are deleted before they need to be frozen;
--   no truncation, which takes an exclusive lock that stops producers and consumers, and frees pages that are needed
--   again; rare updates of statistics, because statistics are never right for a queue, and no plan of this design
--   depends on them.
-- {table} the queue
-- {key}   its primary key
-- {seq}   the sequence that numbers messages
CREATE SEQUENCE {seq} AS bigint CACHE 1;

CREATE TABLE {table} (
    message_id bigint      NOT NULL,
    time       timestamptz NULL,
    message    text        NULL,
    CONSTRAINT {key} PRIMARY KEY (message_id)
) WITH (
    autovacuum_vacuum_scale_factor = 0,
    autovacuum_vacuum_threshold = 1000,
    autovacuum_vacuum_cost_delay = 0,
    autovacuum_vacuum_insert_threshold = -1,
    autovacuum_analyze_scale_factor = 0,
    autovacuum_analyze_threshold = 100000,
    vacuum_truncate = off,
    toast.autovacuum_vacuum_scale_factor = 0,
    toast.autovacuum_vacuum_threshold = 1000,
    toast.autovacuum_vacuum_cost_delay = 0,
    toast.vacuum_truncate = off
);

-- Owned by the table, so that neither outlives the other.
ALTER SEQUENCE {seq} OWNED BY {table}.message_id;
