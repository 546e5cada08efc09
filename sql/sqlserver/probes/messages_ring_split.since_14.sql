-- The next messages of a ring of pointers, for the queue screen, with payloads from the second table: first the
-- messages whose number a consumer has taken, then ready messages.
-- {table}        the ring's table
-- {slot}         column: the slot
-- {message_id}   column: the number of the message in the slot, NULL if it is empty
-- {data_table}   the table with the payloads
-- {data_id}      column of the second table: the message's number
-- {enqueued_at?} column: when the message was pushed
-- {payload?}     column of the second table: the message
-- {size!int}     slots in the ring
-- :pop_sequences ids of the pop sequences, separated by commas: one, or one for each subscriber
-- :limit         maximum number of rows
-- > id           the message's number
-- > state        in_progress or ready
-- > age_s        seconds since it was pushed
-- > owner        NULL: a ring does not record who took a number
-- > attempts     NULL: a pop is final
-- > payload      its first characters; only its size if it is large
-- > error        NULL: a ring has no column for errors
WITH digits AS (
    SELECT d.n FROM (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)) AS d(n)
),
pos AS (
    SELECT MIN(CAST(o.current_value AS bigint) - CASE WHEN o.last_used_value IS NULL AND o.current_value = o.start_value THEN 1 ELSE 0 END) AS pop_last
    FROM sys.sequences AS o
    WHERE CHARINDEX(',' + CAST(o.object_id AS varchar(11)) + ',', ',' + CAST(:pop_sequences AS varchar(800)) + ',') > 0
)
SELECT TOP (:limit)
    CONVERT(nvarchar(20), w.n) AS id,
    CAST(CASE WHEN w.n <= w.pop_last THEN 'in_progress' ELSE 'ready' END AS varchar(20)) AS state,
    CAST(
        DATEDIFF(DAY, m.qmon_at, SYSUTCDATETIME()) * 86400.0
        + DATEDIFF(MILLISECOND, DATEADD(DAY, DATEDIFF(DAY, m.qmon_at, SYSUTCDATETIME()), m.qmon_at), SYSUTCDATETIME()) / 1000.0
    AS float) AS age_s,
    CAST(NULL AS nvarchar(128)) AS owner,
    CAST(NULL AS int) AS attempts,
    CAST(d.qmon_payload AS nvarchar(400)) AS payload,
    CAST(NULL AS nvarchar(400)) AS error
FROM (
    SELECT pos.pop_last - 32 + a.n + 10 * b.n + 100 * c.n AS n, pos.pop_last
    FROM pos
    CROSS JOIN digits AS a
    CROSS JOIN digits AS b
    CROSS JOIN digits AS c
    WHERE a.n + 10 * b.n + 100 * c.n <= 32 + {size!int}
        AND pos.pop_last - 32 + a.n + 10 * b.n + 100 * c.n >= 0
) AS w
CROSS APPLY (
    SELECT TOP (1)
        {enqueued_at?!moment} AS qmon_at
    FROM {table} AS q WITH (FORCESEEK)
    WHERE q.{slot} = CAST(w.n % {size!int} AS int)
        AND q.{message_id} = w.n
) AS m
OUTER APPLY (
    SELECT TOP (1)
        CASE
            WHEN DATALENGTH({payload?}) > 65536 THEN CONVERT(nvarchar(20), DATALENGTH({payload?}) / 1024) + N' kB'
            ELSE LEFT(CONVERT(nvarchar(max), {payload?!read}, 1), 200)
        END AS qmon_payload
    FROM {data_table}
    WHERE {data_id} = w.n
) AS d
ORDER BY w.n
OPTION (MAXDOP 1)
