-- The ring as published (Thomas Kejser, "Implementing Message Queues in Relational Databases", LMAX'ed): to watch and
-- to compare with the design "ring", not recommended. Its problems:
--   laps invert: producers n and n + size wait for the same slot, either may win, and then a consumer waits forever for
--   a number whose slot holds a later one (with more producers than slots, or a producer that stalls for a lap);
--   a producer that died leaves a hole: its consumer waits forever; a consumer that died leaves an orphan, whose slot
--   traps one producer per lap; a rolled-back transaction does either, and a crash of the server loses up to 100,000
--   numbers per side.
-- Nothing here finds or repairs that, as in the article; reset renumbers the ring while no session uses it.
--
-- Columns as in the article: slot, message_id, time, message (char(300) there), reference_count. Additions: none. One
-- subscriber: reference_count is 0 or 1. Times are UTC.
--
-- Filled before the index is made, as in the article, and packed full: some ten slots a page. A message longer than
-- the 300 characters that the article allows may split its page, once.
-- The primary key on slot is the only index.
--   LOCK_ESCALATION = DISABLE and ALLOW_PAGE_LOCKS = OFF, additions: row locks and nothing else, for which the
--   article hints;
--   STATISTICS_NORECOMPUTE, an addition: plans do not depend on statistics, because each statement finds its slot by
--   key.
-- {table}    the ring
-- {key}      its primary key
-- {size!int} slots
CREATE TABLE {table} (
    slot            int           NOT NULL,
    reference_count tinyint       NOT NULL,
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
INSERT INTO {table} (slot, reference_count, message_id, time, message)
SELECT p.slot, 0, NULL, '20500101',
    CAST(N'dummy' AS nchar(300))
FROM places AS p
WHERE p.slot < {size!int};

ALTER TABLE {table} ADD CONSTRAINT {key} PRIMARY KEY CLUSTERED (slot)
    WITH (FILLFACTOR = 100, ALLOW_PAGE_LOCKS = OFF, STATISTICS_NORECOMPUTE = ON);
ALTER TABLE {table} SET (LOCK_ESCALATION = DISABLE);
