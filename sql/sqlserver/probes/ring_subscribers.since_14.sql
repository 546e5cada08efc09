-- Positions of a ring that several subscribers read and the slots around them, in one statement: the position of the
-- producers, and the position of the slowest subscriber, because a slot is free again when the last subscriber has read
-- it. Reads at most :window slots per position, each sought by its key.
-- A slot whose turn is n is free for message n, n + 1 holds it for the subscribers in "unread", n + size has been read
-- by all.
-- {table}         the ring's table
-- {slot}          column: the slot
-- {turn}          column: the turn
-- {unread}        column: subscribers that have not read it yet, subscriber k as bit k - 1
-- {enqueued_at?}  column: when the message was pushed
-- {size!int}      slots in the ring
-- :push_sequence  id of the push sequence
-- :pop_sequences  ids of the subscribers' pop sequences, separated by commas, in their order
-- :window         numbers to look at behind each position, and for the oldest ready message, at most 1,000
-- > push_last     last number taken by a producer
-- > pop_last      last number taken by a consumer of that subscriber
-- > push_open     numbers near push_last without a message yet
-- > push_open_ahead numbers beyond pop_last, near push_last, that have no message for it: not there yet, or skipped
-- > pop_waiting   numbers up to pop_last that wait for their message
-- > pop_held      numbers up to pop_last with a message that the subscriber has not read yet
-- > oldest_s      seconds since the oldest message that it has not taken was pushed
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
listed AS (
    SELECT
        CAST(o.current_value AS bigint) - CASE WHEN o.last_used_value IS NULL AND o.current_value = o.start_value THEN 1 ELSE 0 END AS pop_last,
        LEFT(
            CAST(:pop_sequences AS varchar(800)),
            CHARINDEX(',' + CAST(o.object_id AS varchar(11)) + ',', ',' + CAST(:pop_sequences AS varchar(800)) + ',')
        ) AS before
    FROM sys.sequences AS o
    WHERE CHARINDEX(',' + CAST(o.object_id AS varchar(11)) + ',', ',' + CAST(:pop_sequences AS varchar(800)) + ',') > 0
),
pos AS (
    SELECT
        CAST(p.current_value AS bigint) - CASE WHEN p.last_used_value IS NULL AND p.current_value = p.start_value THEN 1 ELSE 0 END AS push_last,
        l.pop_last,
        POWER(CAST(2 AS bigint), LEN(l.before) - LEN(REPLACE(l.before, ',', ''))) AS own
    FROM listed AS l
    JOIN sys.sequences AS p ON p.object_id = CAST(:push_sequence AS int)
),
behind AS (
    SELECT TOP (1) pos.push_last, pos.pop_last, pos.own, COALESCE(w.waiting, 0) AS waiting, COALESCE(w.held, 0) AS held
    FROM pos
    OUTER APPLY (
        SELECT
            SUM(CASE WHEN t.turn <= n.n THEN 1 ELSE 0 END) AS waiting,
            SUM(CASE WHEN t.turn = n.n + 1 AND t.unread & n.own <> 0 THEN 1 ELSE 0 END) AS held
        FROM (SELECT pos.pop_last - back.n AS n, pos.own AS own FROM back WHERE back.n <= pos.pop_last) AS n
        CROSS APPLY (
            SELECT TOP (1) CAST(q.{turn} AS bigint) AS turn, CAST(q.{unread} AS bigint) AS unread
            FROM {table} AS q WITH (FORCESEEK)
            WHERE q.{slot} = CAST(n.n % {size!int} AS int)
        ) AS t
    ) AS w
    ORDER BY pos.pop_last - COALESCE(w.waiting, 0) - COALESCE(w.held, 0), pos.pop_last, pos.own
)
SELECT
    b.push_last,
    b.pop_last,
    COALESCE(pushes.push_open, 0) AS push_open,
    COALESCE(pushes.push_open_ahead, 0) AS push_open_ahead,
    b.waiting AS pop_waiting,
    b.held AS pop_held,
    CAST(
        DATEDIFF(DAY, oldest.qmon_at, SYSUTCDATETIME()) * 86400.0
        + DATEDIFF(MILLISECOND, DATEADD(DAY, DATEDIFF(DAY, oldest.qmon_at, SYSUTCDATETIME()), oldest.qmon_at), SYSUTCDATETIME()) / 1000.0
    AS float) AS oldest_s
FROM behind AS b
OUTER APPLY (
    SELECT
        SUM(CASE WHEN t.turn <= n.n THEN 1 ELSE 0 END) AS push_open,
        SUM(CASE WHEN n.n > n.pop_last AND (t.turn <> n.n + 1 OR t.unread & n.own = 0) THEN 1 ELSE 0 END) AS push_open_ahead
    FROM (
        SELECT b.push_last - back.n AS n, b.pop_last AS pop_last, b.own AS own FROM back WHERE back.n <= b.push_last
    ) AS n
    CROSS APPLY (
        SELECT TOP (1) CAST(q.{turn} AS bigint) AS turn, CAST(q.{unread} AS bigint) AS unread
        FROM {table} AS q WITH (FORCESEEK)
        WHERE q.{slot} = CAST(n.n % {size!int} AS int)
    ) AS t
) AS pushes
OUTER APPLY (
    SELECT TOP (1) t.qmon_at
    FROM (
        SELECT b.pop_last + 1 + back.n AS n, back.n AS place, b.own AS own FROM back WHERE b.pop_last + 1 + back.n <= b.push_last
    ) AS w
    CROSS APPLY (
        SELECT TOP (1) {enqueued_at?!moment} AS qmon_at
        FROM {table} AS q WITH (FORCESEEK)
        WHERE q.{slot} = CAST(w.n % {size!int} AS int)
            AND q.{turn} = w.n + 1
            AND CAST(q.{unread} AS bigint) & w.own <> 0
    ) AS t
    ORDER BY w.place
) AS oldest
OPTION (MAXDOP 1)
