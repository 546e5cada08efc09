-- The ring of pointers (Thomas Kejser, answering comments on "Implementing Message Queues in Relational Databases"):
-- for messages larger than a page. The ring assigns messages to consumers; a slot contains only a message's number. The
-- payload is in one of four tables, chosen by the number modulo 4, "a heap with simple INSERT/DELETE semantics": large
-- data is kept out of the contended table, which stays small: 40 slots per page and more.
--
-- Classic columns: slot, message_id (here the pointer), time, reference_count. Addition: turn, as in the design "ring",
-- whose comments apply here as well: a late session is refused, and its message is never misplaced.
--   turn = n         free for message n, and for no other     push n sets n + 1
--   turn = n + 1     holds message n                          pop n sets n + size
--   turn = n + size  message n has been popped (or skipped): free for message n + size
--
-- The four tables are partitions of one, so that producers, consumers and readers of a message write one statement, and
-- the server selects the partition by the number's remainder. Each has an index on the number; it is not unique there,
-- since the turn already is. No foreign key: pop takes both away in one transaction.
--
-- CACHE 1: in PostgreSQL, CACHE n is per session. Sessions would hold blocks of numbers, and the ring would wait for
-- the slowest session. Numbers begin with 1; slot 0 therefore waits for message "size".
--
-- The ring: every push and pop is an UPDATE that stays HOT, that is on the same page and without touching the index,
-- because no changing column is indexed and fillfactor 30 leaves room. Vacuum frees space that a long transaction has
-- kept in use. The payloads: vacuum after 1,000 dead rows whatever the size, unthrottled; not for inserts; no
-- truncation, which takes an exclusive lock that stops producers and consumers; statistics rarely.
-- {table}    the ring
-- {key}      its primary key
-- {data}     the payloads
-- {data_0}   those of numbers divisible by 4
-- {data_1}   those with remainder 1
-- {data_2}   those with remainder 2
-- {data_3}   those with remainder 3
-- {data_index} index
-- {push_seq} the sequence of push numbers
-- {pop_seq}  the sequence of pop numbers
-- {settled_seq} the sequence that remembers up to which number all have been popped, see settle
-- {size!int} slots
CREATE SEQUENCE {push_seq} AS bigint MINVALUE 1 CACHE 1;
CREATE SEQUENCE {pop_seq} AS bigint MINVALUE 1 CACHE 1;
CREATE SEQUENCE {settled_seq} AS bigint MINVALUE 1 CACHE 1;

CREATE TABLE {table} (
    slot            integer     NOT NULL,
    reference_count smallint    NOT NULL,
    turn            bigint      NOT NULL,
    message_id      bigint      NULL,
    time            timestamptz NOT NULL,
    CONSTRAINT {key} PRIMARY KEY (slot)
) WITH (
    fillfactor = 30,
    autovacuum_vacuum_scale_factor = 1,
    autovacuum_vacuum_threshold = 1000,
    autovacuum_vacuum_cost_delay = 0,
    autovacuum_analyze_scale_factor = 0,
    autovacuum_analyze_threshold = 1000000,
    vacuum_truncate = off
);

CREATE TABLE {data} (
    message_id bigint NOT NULL,
    message    text   NOT NULL
) PARTITION BY LIST ((message_id % 4));

CREATE INDEX {data_index} ON {data} (message_id);

CREATE TABLE {data_0} PARTITION OF {data} FOR VALUES IN (0) WITH (
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

CREATE TABLE {data_1} PARTITION OF {data} FOR VALUES IN (1) WITH (
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

CREATE TABLE {data_2} PARTITION OF {data} FOR VALUES IN (2) WITH (
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

CREATE TABLE {data_3} PARTITION OF {data} FOR VALUES IN (3) WITH (
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

-- Prefill, as in the article: no push ever makes a slot.
INSERT INTO {table} (slot, reference_count, turn, message_id, time)
SELECT s.slot, 0, CASE s.slot WHEN 0 THEN {size!int} ELSE s.slot END, NULL, '2050-01-01 00:00:00+00'
FROM generate_series(0, {size!int} - 1) AS s(slot);

-- Owned by the table, so that none outlives the others.
ALTER SEQUENCE {push_seq} OWNED BY {table}.message_id;
ALTER SEQUENCE {pop_seq} OWNED BY {table}.message_id;
ALTER SEQUENCE {settled_seq} OWNED BY {table}.message_id;
