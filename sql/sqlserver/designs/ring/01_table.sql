-- The ring (Thomas Kejser, "Implementing Message Queues in Relational Databases", LMAX'ed): slots that are there from
-- the beginning and are updated, a sequence of numbers for producers and one for consumers; message n lives in slot n %
-- size.
--
-- Classic columns: slot, message_id, time, message (char(300) in the article), reference_count. time is when the slot
-- was last pushed to or popped from, as in the article, here in UTC.
-- Addition: turn. The published ring inverts laps: producers n and n + size wait for the same slot and either may win;
-- then a consumer waits forever for a number whose slot holds a later one. Here the slot has a turn:
--   turn = n         free for message n, and for no other     push n sets n + 1
--   turn = n + 1     holds message n                          pop n sets n + size
--   turn = n + size  message n has been popped (or skipped): free for message n + size
-- Because turn only grows, the slot refuses a late session, and no message gets into a wrong slot. One subscriber:
-- reference_count is 0 or 1.
--
-- Filled before the index is made, as in the article, with messages of the article's 300 characters and FILLFACTOR
-- 25: three slots a page. Neighbouring numbers meet in neighbouring slots, and many slots on a page are many sessions
-- at one latch (PAGELATCH_EX); and a message of up to four times that length makes no page split, any longer one at
-- most once, since rows come and go no more. Messages beyond a page belong into the design "ring_pointer" (Kejser's
-- comments). The primary key on slot is the only index on the ring.
--   LOCK_ESCALATION = DISABLE and ALLOW_PAGE_LOCKS = OFF: row locks and nothing else: a lock on a page or the table
--   would be one on slots of other numbers;
--   STATISTICS_NORECOMPUTE: plans do not depend on statistics, because each statement finds its slot by key.
-- {table}    the ring
-- {key}      its primary key
-- {size!int} slots
CREATE TABLE {table} (
    slot            int           NOT NULL,
    reference_count tinyint       NOT NULL,
    turn            bigint        NOT NULL,
    message_id      bigint        NULL,
    time            datetime2(3)  NOT NULL,
    message         nvarchar(max) NOT NULL
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
INSERT INTO {table} (slot, reference_count, turn, message_id, time, message)
SELECT p.slot, 0, CASE p.slot WHEN 0 THEN {size!int} ELSE p.slot END, NULL, '20500101',
    CAST(N'dummy' AS nchar(300))
FROM places AS p
WHERE p.slot < {size!int};

ALTER TABLE {table} ADD CONSTRAINT {key} PRIMARY KEY CLUSTERED (slot)
    WITH (FILLFACTOR = 25, ALLOW_PAGE_LOCKS = OFF, STATISTICS_NORECOMPUTE = ON);
ALTER TABLE {table} SET (LOCK_ESCALATION = DISABLE);
