-- The ring (Thomas Kejser, "Implementing Message Queues in Relational Databases", LMAX'ed): slots that are there from
-- the beginning and are updated, a sequence of numbers for producers and one for consumers; message n lives in slot n %
-- size.
--
-- Classic columns: slot, message_id, time, message (char(300) in the article, text here), reference_count. Addition:
-- turn. The published ring inverts laps: producers n and n + size wait for the same slot and either may win; then a
-- consumer waits forever for a number whose slot holds a later one. Here the slot has a turn:
--   turn = n         free for message n, and for no other     push n sets n + 1
--   turn = n + 1     holds message n                          pop n sets n + size
--   turn = n + size  message n has been popped (or skipped): free for message n + size
-- Because turn only grows, the slot refuses a late session, and no message gets into a wrong slot. One subscriber:
-- reference_count is 0 or 1.
--
-- CACHE 1: in PostgreSQL, CACHE n is per session. Sessions would hold blocks of numbers, and the ring would wait for
-- the slowest session. Numbers begin with 1; slot 0 therefore waits for message "size".
--
-- Every push and pop is an UPDATE, which in PostgreSQL writes a new version of the row. The update stays HOT (on the
-- same page and without touching the index), because no changing column is indexed and fillfactor 30 leaves room for
-- some versions of each slot. The next reader of the page then removes old versions. The primary key on slot is the
-- only index. Vacuum after at least as many dead rows as there are slots, unthrottled: it frees space that a long
-- transaction has kept in use. No truncation: it takes an exclusive lock that stops producers and consumers.
--
-- For a dashboard: positions from the two sequences, and the slots near both by key. Nothing reads the ring from end
-- to end.
-- {table}    the ring
-- {key}      its primary key
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
    message         text        NOT NULL,
    CONSTRAINT {key} PRIMARY KEY (slot)
) WITH (
    fillfactor = 30,
    autovacuum_vacuum_scale_factor = 1,
    autovacuum_vacuum_threshold = 1000,
    autovacuum_vacuum_cost_delay = 0,
    autovacuum_analyze_scale_factor = 0,
    autovacuum_analyze_threshold = 1000000,
    vacuum_truncate = off,
    toast.autovacuum_vacuum_scale_factor = 0,
    toast.autovacuum_vacuum_threshold = 1000,
    toast.autovacuum_vacuum_cost_delay = 0,
    toast.vacuum_truncate = off
);

-- Prefill, as in the article: no push ever makes a row. With 300 characters, so that slots have their room from the
-- first lap on; else messages would not fit beside each other, and nearly every update of that lap would move a slot to
-- another page.
INSERT INTO {table} (slot, reference_count, turn, message_id, time, message)
SELECT s.slot, 0, CASE s.slot WHEN 0 THEN {size!int} ELSE s.slot END, NULL, '2050-01-01 00:00:00+00',
    rpad('dummy', 300)
FROM generate_series(0, {size!int} - 1) AS s(slot);

-- Owned by the table, so that none outlives the others.
ALTER SEQUENCE {push_seq} OWNED BY {table}.message_id;
ALTER SEQUENCE {pop_seq} OWNED BY {table}.message_id;
ALTER SEQUENCE {settled_seq} OWNED BY {table}.message_id;
