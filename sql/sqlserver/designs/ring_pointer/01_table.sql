-- The ring of pointers (Thomas Kejser, answering comments on "Implementing Message Queues in Relational Databases"):
-- for messages larger than a page. The ring assigns messages to consumers; a slot contains only a message's number. The
-- payload is in one of four tables, chosen by the number modulo 4: large data is kept out of the contended table.
--
-- Classic columns: slot, message_id (here the pointer), time, reference_count. Addition: turn, as in the design "ring",
-- whose comments apply here as well: a late session is refused, and its message is never misplaced.
--   turn = n         free for message n, and for no other     push n sets n + 1
--   turn = n + 1     holds message n                          pop n sets n + size
--   turn = n + size  message n has been popped (or skipped): free for message n + size
--
-- Filled before the index is made, as in the article, with FILLFACTOR 10: some twenty slots a page in place of two
-- hundred. Neighbouring numbers meet in neighbouring slots, and many slots on a page are many sessions at one latch
-- (PAGELATCH_EX). No row ever grows: pages never split.
-- The payload tables are clustered on the number: they are reached by it, once to write and once to take away. In the
-- article's words they could be heaps; a heap would have to be searched, or need an index. Rows are stored in row or,
-- above one page, in LOB pages; sessions do not wait for each other there, because the ring has already decided.
-- The primary key on slot is the only index on the ring.
--   LOCK_ESCALATION = DISABLE and ALLOW_PAGE_LOCKS = OFF: row locks and nothing else: a lock on a page or the table
--   would be one on slots of other numbers;
--   STATISTICS_NORECOMPUTE: plans do not depend on statistics, because each statement finds its slot by key.
-- {table}      the ring
-- {key}        its primary key
-- {data_0}     payloads of numbers divisible by 4
-- {data_0_key} its primary key
-- {data_1}     payloads of numbers with remainder 1
-- {data_1_key} its primary key
-- {data_2}     payloads of numbers with remainder 2
-- {data_2_key} its primary key
-- {data_3}     payloads of numbers with remainder 3
-- {data_3_key} its primary key
-- {size!int}   slots
CREATE TABLE {table} (
    slot            int           NOT NULL,
    reference_count tinyint       NOT NULL,
    turn            bigint        NOT NULL,
    message_id      bigint        NULL,
    time            datetime2(3)  NOT NULL
);

-- Prefill, as in the article: no push ever makes a row.
WITH digits AS (
    SELECT v.d FROM (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)) AS v(d)
), places AS (
    SELECT a.d + 10 * b.d + 100 * c.d + 1000 * e.d + 10000 * f.d + 100000 * g.d + 1000000 * h.d AS slot
    FROM digits AS a
    CROSS JOIN digits AS b
    CROSS JOIN digits AS c
    CROSS JOIN digits AS e
    CROSS JOIN digits AS f
    CROSS JOIN digits AS g
    CROSS JOIN digits AS h
    WHERE 10 * b.d < {size!int}
        AND 100 * c.d < {size!int}
        AND 1000 * e.d < {size!int}
        AND 10000 * f.d < {size!int}
        AND 100000 * g.d < {size!int}
        AND 1000000 * h.d < {size!int}
)
INSERT INTO {table} (slot, reference_count, turn, message_id, time)
SELECT p.slot, 0, CASE p.slot WHEN 0 THEN {size!int} ELSE p.slot END, NULL, '20500101'
FROM places AS p
WHERE p.slot < {size!int};

ALTER TABLE {table} ADD CONSTRAINT {key} PRIMARY KEY CLUSTERED (slot)
    WITH (FILLFACTOR = 10, ALLOW_PAGE_LOCKS = OFF, STATISTICS_NORECOMPUTE = ON);
ALTER TABLE {table} SET (LOCK_ESCALATION = DISABLE);

CREATE TABLE {data_0} (
    message_id bigint        NOT NULL,
    message    nvarchar(max) NOT NULL,
    CONSTRAINT {data_0_key} PRIMARY KEY CLUSTERED (message_id)
        WITH (ALLOW_PAGE_LOCKS = OFF, STATISTICS_NORECOMPUTE = ON)
);
ALTER TABLE {data_0} SET (LOCK_ESCALATION = DISABLE);

CREATE TABLE {data_1} (
    message_id bigint        NOT NULL,
    message    nvarchar(max) NOT NULL,
    CONSTRAINT {data_1_key} PRIMARY KEY CLUSTERED (message_id)
        WITH (ALLOW_PAGE_LOCKS = OFF, STATISTICS_NORECOMPUTE = ON)
);
ALTER TABLE {data_1} SET (LOCK_ESCALATION = DISABLE);

CREATE TABLE {data_2} (
    message_id bigint        NOT NULL,
    message    nvarchar(max) NOT NULL,
    CONSTRAINT {data_2_key} PRIMARY KEY CLUSTERED (message_id)
        WITH (ALLOW_PAGE_LOCKS = OFF, STATISTICS_NORECOMPUTE = ON)
);
ALTER TABLE {data_2} SET (LOCK_ESCALATION = DISABLE);

CREATE TABLE {data_3} (
    message_id bigint        NOT NULL,
    message    nvarchar(max) NOT NULL,
    CONSTRAINT {data_3_key} PRIMARY KEY CLUSTERED (message_id)
        WITH (ALLOW_PAGE_LOCKS = OFF, STATISTICS_NORECOMPUTE = ON)
);
ALTER TABLE {data_3} SET (LOCK_ESCALATION = DISABLE);
