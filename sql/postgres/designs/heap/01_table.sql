-- The heap queue (Remus Rusanu, "Using tables as Queues"): messages in no order at all, in a table without any index.
-- Any consumer takes any message that no other consumer holds. The simplest queue, and the cheapest for the server if
-- order does not matter: a push writes one row and no index entry.
--
-- Classic column: payload (varbinary(max), bytea here). Addition: enqueued_at, when it was pushed; nothing looks for
-- it. A pop deletes the row in the consumer's own transaction: a message in progress is an open transaction.
--
-- Without an id messages can be acted on in bulk only. Without an index, finding the oldest message would mean reading
-- the table, and no dashboard should do that; the server's counters give the number of messages.
--
-- Settings of the table:
--   vacuum after 1,000 dead rows whatever the size, unthrottled: until then producers cannot use their room again, and
--   every pop that finds nothing reads the whole table;
--   no vacuum after inserts, because rows are deleted before they need to be frozen;
--   truncation stays on, other than in the designs with an index: every pop reads a heap from end to end if it was once
--   deep, even if it is empty now; vacuum gives way immediately if a session waits for its lock.
-- {table} the queue
CREATE TABLE {table} (
    payload     bytea,
    enqueued_at timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (
    autovacuum_vacuum_scale_factor = 0,
    autovacuum_vacuum_threshold = 1000,
    autovacuum_vacuum_cost_delay = 0,
    autovacuum_vacuum_insert_threshold = -1,
    autovacuum_analyze_scale_factor = 0,
    autovacuum_analyze_threshold = 100000,
    toast.autovacuum_vacuum_scale_factor = 0,
    toast.autovacuum_vacuum_threshold = 1000,
    toast.autovacuum_vacuum_cost_delay = 0,
    toast.vacuum_truncate = off
);
