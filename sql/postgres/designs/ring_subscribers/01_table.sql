-- The ring for several subscribers (Thomas Kejser, "Implementing Message Queues in Relational Databases": "variants can
-- be done if you have multiple subscribers"): each subscriber reads every message, at its own pop position. The slot is
-- free again when the last of them has read it; so the slowest one holds up the producers, size messages later.
--
-- Classic columns: slot, message_id, time, message (char(300) in the article, text here), reference_count, which counts
-- the subscribers that still have to read. Additions: turn, as in the design "ring", whose comments hold here as well;
-- unread, the same as reference_count as a set: bit k - 1 is subscriber k. The count alone cannot tell a consumer that
-- comes back with its number (after a rollback, or because it was too early) whether its own subscriber has read it.
--   turn = n         free for message n, and for no other     push n sets n + 1, and unread to all subscribers
--   turn = n + 1     holds message n for those in unread      pop n takes its subscriber out, the last sets n + size
--   turn = n + size  message n has been read by all (or skipped): free for message n + size
-- time is when the message was pushed; the last reader sets it to when the slot became free.
--
-- The second table has the subscribers, numbered from 1, the sequence of each one's pop position, called like the ring
-- with _pop_seq_1, _pop_seq_2 … behind, and up to which number each has settled all, see settle.
--
-- CACHE 1: in PostgreSQL, CACHE n is per session. Sessions would hold blocks of numbers, and the ring would wait for
-- the slowest session. Numbers begin with 1; slot 0 therefore waits for message "size".
--
-- Updates stay HOT, on the same page and without touching the index, because no changing column is indexed and
-- fillfactor 30 leaves room for some versions of each slot. Vacuum and truncation as in the design "ring".
-- {table}           the ring
-- {key}             its primary key
-- {readers}         its subscribers
-- {readers_key}     their primary key
-- {push_seq}        the sequence of push numbers
-- {size!int}        slots
-- {subscribers!int} number of subscribers, 1 to 16
CREATE SEQUENCE {push_seq} AS bigint MINVALUE 1 CACHE 1;

CREATE TABLE {table} (
    slot            integer     NOT NULL,
    reference_count smallint    NOT NULL,
    unread          integer     NOT NULL,
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
INSERT INTO {table} (slot, reference_count, unread, turn, message_id, time, message)
SELECT s.slot, 0, 0, CASE s.slot WHEN 0 THEN {size!int} ELSE s.slot END, NULL, '2050-01-01 00:00:00+00',
    rpad('dummy', 300)
FROM generate_series(0, {size!int} - 1) AS s(slot);

CREATE TABLE {readers} (
    subscriber integer  NOT NULL,
    pop_seq    regclass NOT NULL,
    settled    bigint   NOT NULL DEFAULT 0,
    CONSTRAINT {readers_key} PRIMARY KEY (subscriber)
) WITH (
    fillfactor = 30
);

-- Owned by the table, so that none outlives the others.
ALTER SEQUENCE {push_seq} OWNED BY {table}.message_id;

DO $qmon_body$
DECLARE
    v_name text;
BEGIN
    FOR v_subscriber IN 1..{subscribers!int} LOOP
        SELECT format('%I.%I', n.nspname, c.relname || '_pop_seq_' || v_subscriber)
        INTO v_name
        FROM pg_class AS c
        JOIN pg_namespace AS n ON n.oid = c.relnamespace
        WHERE c.oid = {table!literal}::regclass;
        EXECUTE 'CREATE SEQUENCE ' || v_name || ' AS bigint MINVALUE 1 CACHE 1';
        EXECUTE 'ALTER SEQUENCE ' || v_name || ' OWNED BY ' || {table!literal} || '.message_id';
        INSERT INTO {readers} (subscriber, pop_seq)
        VALUES (v_subscriber, v_name::regclass);
    END LOOP;
END
$qmon_body$;
