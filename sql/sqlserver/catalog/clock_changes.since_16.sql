-- The changes of the server's clock within 500 days back and ahead: compares days, and on days with a change, quarters
-- of an hour.
-- > since_at  seconds since the epoch
-- > minutes   so far ahead of UTC the local time is from then on
WITH digits AS (
    SELECT v.n
    FROM (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)) AS v(n)
),
days AS (
    SELECT DATEADD(DAY, a.n + 10 * b.n + 100 * c.n - 500, CAST(CAST(SYSUTCDATETIME() AS date) AS datetime2(0))) AS day
    FROM digits AS a
    CROSS JOIN digits AS b
    CROSS JOIN digits AS c
),
ends AS (
    SELECT
        d.day,
        DATEPART(TZOFFSET, d.day AT TIME ZONE 'UTC' AT TIME ZONE CURRENT_TIMEZONE_ID()) AS before,
        DATEPART(TZOFFSET, DATEADD(DAY, 1, d.day) AT TIME ZONE 'UTC' AT TIME ZONE CURRENT_TIMEZONE_ID()) AS after
    FROM days AS d
),
quarters AS (
    SELECT
        e.day,
        e.after,
        DATEADD(MINUTE, 15 * (a.n + 10 * b.n), e.day) AS quarter
    FROM ends AS e
    CROSS JOIN digits AS a
    CROSS JOIN digits AS b
    WHERE e.before <> e.after AND a.n + 10 * b.n BETWEEN 1 AND 96
),
changes AS (
    SELECT MIN(q.quarter) AS since, q.after AS minutes
    FROM quarters AS q
    WHERE DATEPART(TZOFFSET, q.quarter AT TIME ZONE 'UTC' AT TIME ZONE CURRENT_TIMEZONE_ID()) = q.after
    GROUP BY q.day, q.after
    UNION ALL
    SELECT TOP (1) e.day, e.before
    FROM ends AS e
    ORDER BY e.day
)
SELECT
    CAST(DATEDIFF(DAY, '19700101', c.since) * 86400.0 + DATEDIFF(SECOND, CAST(c.since AS date), c.since) AS float) AS since_at,
    CAST(c.minutes AS int) AS minutes
FROM changes AS c
ORDER BY c.since
