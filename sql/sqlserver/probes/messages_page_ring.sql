-- A page of a ring's messages in one state. Numbers identify the messages, and message n is in slot n % size. The
-- statement reads at most :walk slots by their key, from the start of the page until enough messages are found.
-- Consumers have taken the numbers up to pop_last (of the slowest subscriber): messages up to this number are in
-- progress, and messages after it are ready. Each slot is in one of the two lists once: with its number in the lap that
-- starts at pop_last, or in the lap that ends there. So the lists include a message that a repair has left a lap behind
-- or ahead. Before 2017, a sequence from which no number was taken looks as if its first number were taken: that
-- message is listed as in progress.
-- {table}         the ring's table
-- {slot}          column: the slot
-- {message_id}    column: the number of the message in the slot, NULL if it is empty
-- {enqueued_at?}  column: when the message was pushed
-- {payload?}      column: the message
-- {size!int}      slots in the ring
-- {look!order}    by the slot, in the direction of the list
-- :push_sequence  id of the push sequence
-- :pop_sequences  ids of the pop sequences, separated by commas: one, or one for each subscriber
-- :state          ready or in_progress
-- :above          only numbers greater than this one
-- :below          only numbers less than this one
-- :down           1: the greatest first
-- :walk           slots to look at, at most; no more than there are
-- :limit          maximum number of messages
-- > id            the message's number; empty in the last row
-- > state         the same
-- > age_s         seconds since it was pushed
-- > owner         NULL: a ring does not record who took a number
-- > attempts      NULL: a pop is final
-- > payload       its first characters; only its size if it is large
-- > error         NULL: a ring has no column for errors
-- > at            the slot's number in this list, as text; in the last row that of the last slot, NULL at the end of the list
-- > listed        1: a message; 0: the last row, which is missing only if the positions cannot be read
-- > place         which of the slots it is, from 1, in the direction of the list
-- > known         number of slots from the first to the last of them
-- > looked        the same
WITH pos AS (
    SELECT
        (
            SELECT CAST(p.current_value AS bigint)
            FROM sys.sequences AS p
            WHERE p.object_id = CAST(:push_sequence AS int)
        ) AS push_last,
        (
            SELECT MIN(CAST(o.current_value AS bigint))
            FROM sys.sequences AS o
            WHERE CHARINDEX(',' + CAST(o.object_id AS varchar(11)) + ',', ',' + CAST(:pop_sequences AS varchar(800)) + ',') > 0
        ) AS pop_last
),
-- The numbers of the list, then those from where the page begins, then those of the slots that are looked at.
list AS (
    SELECT
        pos.pop_last,
        CASE
            WHEN CAST(:state AS varchar(20)) = 'ready' THEN pos.pop_last + 1
            WHEN pos.pop_last >= {size!int} THEN pos.pop_last - {size!int} + 1
            ELSE 0
        END AS low,
        CASE
            WHEN CAST(:state AS varchar(20)) = 'in_progress' THEN pos.pop_last
            WHEN pos.push_last > pos.pop_last + {size!int} THEN pos.pop_last + {size!int}
            ELSE pos.push_last
        END AS high
    FROM pos
    WHERE pos.push_last IS NOT NULL
        AND pos.pop_last IS NOT NULL
),
page AS (
    SELECT
        list.pop_last,
        CASE WHEN list.low > CAST(:above AS bigint) THEN list.low ELSE CAST(:above AS bigint) + 1 END AS low,
        CASE WHEN list.high < CAST(:below AS bigint) THEN list.high ELSE CAST(:below AS bigint) - 1 END AS high
    FROM list
),
walk AS (
    SELECT
        page.pop_last,
        CASE
            WHEN CAST(:down AS int) = 1 AND page.high - page.low >= CAST(:walk AS int) THEN page.high - CAST(:walk AS int) + 1
            ELSE page.low
        END AS low,
        CASE
            WHEN CAST(:down AS int) = 0 AND page.high - page.low >= CAST(:walk AS int) THEN page.low + CAST(:walk AS int) - 1
            ELSE page.high
        END AS high,
        CASE
            WHEN page.high < page.low THEN 0
            WHEN page.high - page.low >= CAST(:walk AS int) THEN CAST(:walk AS int)
            ELSE CAST(page.high - page.low + 1 AS int)
        END AS slots,
        CASE WHEN page.high - page.low >= CAST(:walk AS int) THEN 1 ELSE 0 END AS more
    FROM page
)
SELECT
    m.qmon_id AS id,
    CAST(:state AS varchar(20)) AS state,
    CAST(
        DATEDIFF(DAY, m.qmon_at, SYSUTCDATETIME()) * 86400.0
        + DATEDIFF(MILLISECOND, DATEADD(DAY, DATEDIFF(DAY, m.qmon_at, SYSUTCDATETIME()), m.qmon_at), SYSUTCDATETIME()) / 1000.0
    AS float) AS age_s,
    CAST(NULL AS nvarchar(128)) AS owner,
    CAST(NULL AS int) AS attempts,
    CAST(m.qmon_payload AS nvarchar(400)) AS payload,
    CAST(NULL AS nvarchar(400)) AS error,
    CONVERT(nvarchar(20), m.qmon_n) AS at,
    m.qmon_listed AS listed,
    CAST(m.qmon_place AS int) AS place,
    walk.slots AS known,
    walk.slots AS looked
FROM walk
CROSS APPLY (
    SELECT
        CONVERT(nvarchar(20), f.qmon_number) AS qmon_id,
        f.qmon_at,
        f.qmon_payload,
        f.qmon_n,
        f.qmon_place,
        1 AS qmon_listed
    FROM (
        SELECT TOP (:limit)
            t.*,
            CASE WHEN CAST(:down AS int) = 1 THEN walk.high - t.qmon_n ELSE t.qmon_n - walk.low END + 1 AS qmon_place
        -- They are in one run of slots, or in two if they cross the ring's end.
        FROM (
            SELECT
                walk.low AS low,
                CASE
                    WHEN walk.high / {size!int} > walk.low / {size!int} THEN (walk.low / {size!int} + 1) * {size!int} - 1
                    ELSE walk.high
                END AS high
            WHERE walk.low <= walk.high
            UNION ALL
            SELECT (walk.low / {size!int} + 1) * {size!int} AS low, walk.high AS high
            WHERE walk.high / {size!int} > walk.low / {size!int}
        ) AS run
        CROSS APPLY (
            SELECT TOP (:limit)
                run.low + q.{slot} - run.low % {size!int} AS qmon_n,
                CAST(q.{message_id} AS bigint) AS qmon_number,
                {enqueued_at?!moment.q} AS qmon_at,
                CASE
                    WHEN DATALENGTH({payload?}) > 65536 THEN CONVERT(nvarchar(20), DATALENGTH({payload?}) / 1024) + N' kB'
                    ELSE LEFT(CONVERT(nvarchar(max), {payload?!read}, 1), 200)
                END AS qmon_payload
            FROM {table} AS q WITH (FORCESEEK)
            WHERE q.{slot} BETWEEN CAST(run.low % {size!int} AS int) AND CAST(run.high % {size!int} AS int)
                AND q.{message_id} IS NOT NULL
                AND CASE WHEN q.{message_id} > walk.pop_last THEN 'ready' ELSE 'in_progress' END = CAST(:state AS varchar(20))
            ORDER BY {look!order}
        ) AS t
        ORDER BY qmon_place
    ) AS f
    UNION ALL
    SELECT
        CAST(N'' AS nvarchar(20)),
        CAST(NULL AS datetime2(3)),
        CAST(NULL AS nvarchar(400)),
        CASE WHEN walk.more = 0 THEN NULL WHEN CAST(:down AS int) = 1 THEN walk.low ELSE walk.high END,
        walk.slots,
        0
) AS m
ORDER BY m.qmon_place, m.qmon_listed DESC
OPTION (MAXDOP 1)
