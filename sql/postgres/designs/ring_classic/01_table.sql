-- The ring as published (Thomas Kejser, "Implementing Message Queues in Relational Databases", LMAX'ed): to watch and
-- to compare with the design "ring", not recommended. Its problems:
--   laps invert: producers n and n + size wait for the same slot, either may win, and then a consumer waits forever for
--   a number whose slot holds a later one (with more producers than slots, or a producer that stalls for a lap);
--   a producer that died leaves a hole: its consumer waits forever; a consumer that died leaves an orphan, whose slot
--   traps one producer per lap; a rolled-back transaction does either.
-- Nothing here finds or repairs that, as in the article; reset() renumbers the ring while no session uses it.
--
-- Columns as in the article: slot, message_id, time, message (char(300) there, text here), reference_count. Additions:
-- none. One subscriber: reference_count is 0 or 1.
--
-- The one thing that is not as published: CACHE 1 in place of 100000. In SQL Server the whole server has one cache. In
-- PostgreSQL each session has one: sessions would hold blocks of numbers, and the ring would wait for the slowest
-- session.
--
-- Every push and pop is an UPDATE, which in PostgreSQL writes a new version of the row. The update stays HOT (on the
-- same page and without touching the index), because no changing column is indexed and fillfactor 30 leaves room for
-- some versions of each slot. Vacuum and truncation as in the design "ring".
-- {table}    the ring
-- {key}      its primary key
-- {push_seq} the sequence of push numbers
-- {pop_seq}  the sequence of pop numbers
-- {size!int} slots
CREATE SEQUENCE {push_seq} AS bigint MINVALUE 1 CACHE 1;
CREATE SEQUENCE {pop_seq} AS bigint MINVALUE 1 CACHE 1;

CREATE TABLE {table} (
    slot            integer     NOT NULL,
    reference_count smallint    NOT NULL,
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
INSERT INTO {table} (slot, reference_count, message_id, time, message)
SELECT s.slot, 0, NULL, '2050-01-01 00:00:00+00', rpad('dummy', 300)
FROM generate_series(0, {size!int} - 1) AS s(slot);

-- Owned by the table, so that none outlives the others.
ALTER SEQUENCE {push_seq} OWNED BY {table}.message_id;
ALTER SEQUENCE {pop_seq} OWNED BY {table}.message_id;
