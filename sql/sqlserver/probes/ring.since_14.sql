-- Positions of a ring and the slots around both of them, in one statement; reads at most 3 x :window slots, each by its
-- key.
-- A slot whose turn is n is free for message n, n + 1 holds it, n + size has been popped: see the design "ring".
-- {table}         the ring's table
-- {slot}          column: the slot
-- {turn}          column: the turn
-- {enqueued_at?}  column: when the message was pushed
-- {size!int}      slots in the ring
-- :push_sequence  id of the push sequence
-- :pop_sequence   id of the pop sequence
-- :window         numbers to look at behind each position, and for the oldest ready message, at most 1,000
-- > push_last     last number taken by a producer
-- > pop_last      last number taken by a consumer
-- > push_open     numbers near push_last without a message yet
-- > push_open_ahead numbers beyond pop_last, near push_last, that have no message: not there yet, or skipped as a hole
-- > pop_waiting   numbers up to pop_last that wait for their message
-- > pop_held      numbers up to pop_last with a message that is not popped yet
-- > oldest_s      seconds since the oldest ready message was pushed
WITH digits AS (
    SELECT d.n FROM (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)) AS d(n)
),
-- 0 to 999: the numbers to look back
back AS (
    SELECT TOP (:window) a.n + 10 * b.n + 100 * c.n AS n
    FROM digits AS a
    CROSS JOIN digits AS b
    CROSS JOIN digits AS c
    ORDER BY a.n + 10 * b.n + 100 * c.n
),
pos AS (
    SELECT CAST(p.current_value AS bigint) - CASE WHEN p.last_used_value IS NULL AND p.current_value = p.start_value THEN 1 ELSE 0 END AS push_last, CAST(o.current_value AS bigint) - CASE WHEN o.last_used_value IS NULL AND o.current_value = o.start_value THEN 1 ELSE 0 END AS pop_last
    FROM sys.sequences AS p
    CROSS JOIN sys.sequences AS o
    WHERE p.object_id = CAST(:push_sequence AS int)
        AND o.object_id = CAST(:pop_sequence AS int)
)
SELECT
    pos.push_last,
    pos.pop_last,
    COALESCE(pushes.push_open, 0) AS push_open,
    COALESCE(pushes.push_open_ahead, 0) AS push_open_ahead,
    COALESCE(pops.pop_waiting, 0) AS pop_waiting,
    COALESCE(pops.pop_held, 0) AS pop_held,
    CAST(
        DATEDIFF(DAY, oldest.qmon_at, SYSUTCDATETIME()) * 86400.0
        + DATEDIFF(MILLISECOND, DATEADD(DAY, DATEDIFF(DAY, oldest.qmon_at, SYSUTCDATETIME()), oldest.qmon_at), SYSUTCDATETIME()) / 1000.0
    AS float) AS oldest_s
FROM pos
OUTER APPLY (
    SELECT
        SUM(CASE WHEN t.turn <= w.n THEN 1 ELSE 0 END) AS push_open,
        SUM(CASE WHEN t.turn <> w.n + 1 AND w.n > w.pop_last THEN 1 ELSE 0 END) AS push_open_ahead
    FROM (SELECT pos.push_last - back.n AS n, pos.pop_last AS pop_last FROM back WHERE back.n <= pos.push_last) AS w
    CROSS APPLY (
        SELECT TOP (1) CAST(q.{turn} AS bigint) AS turn
        FROM {table} AS q WITH (FORCESEEK)
        WHERE q.{slot} = CAST(w.n % {size!int} AS int)
    ) AS t
) AS pushes
OUTER APPLY (
    SELECT
        SUM(CASE WHEN t.turn <= w.n THEN 1 ELSE 0 END) AS pop_waiting,
        SUM(CASE WHEN t.turn = w.n + 1 THEN 1 ELSE 0 END) AS pop_held
    FROM (SELECT pos.pop_last - back.n AS n FROM back WHERE back.n <= pos.pop_last) AS w
    CROSS APPLY (
        SELECT TOP (1) CAST(q.{turn} AS bigint) AS turn
        FROM {table} AS q WITH (FORCESEEK)
        WHERE q.{slot} = CAST(w.n % {size!int} AS int)
    ) AS t
) AS pops
OUTER APPLY (
    SELECT TOP (1) t.qmon_at
    FROM (
        SELECT pos.pop_last + 1 + back.n AS n, back.n AS place FROM back WHERE pos.pop_last + 1 + back.n <= pos.push_last
    ) AS w
    CROSS APPLY (
        SELECT TOP (1) {enqueued_at?!moment} AS qmon_at
        FROM {table} AS q WITH (FORCESEEK)
        WHERE q.{slot} = CAST(w.n % {size!int} AS int)
            AND q.{turn} = w.n + 1
    ) AS t
    ORDER BY w.place
) AS oldest
OPTION (MAXDOP 1)
