-- A page of a ring's messages in one state. Numbers identify the messages, and message n is in slot n % size. The
-- statement reads at most :walk slots by their key, from the start of the page until enough messages are found.
-- Consumers have taken the numbers up to pop_last (of the slowest subscriber): messages up to this number are in
-- progress, and messages after it are ready. Each slot is in one of the two lists once: with its number in the lap that
-- starts at pop_last, or in the lap that ends there. So the lists include a message that a repair has left a lap behind
-- or ahead.
-- {table}         the ring's table
-- {slot}          column: the slot
-- {message_id}    column: the number of the message in the slot, NULL if it is empty
-- {enqueued_at?}  column: when the message was pushed
-- {payload?}      column: the message
-- {sized?}        the same column, if its type gives the size without unpacking the value
-- {size!int}      slots in the ring
-- {look!order}    by the slot, in the direction of the list
-- :push_sequence  id of the push sequence
-- :pop_sequences  ids of the pop sequences as an array, {1,2}: one, or one for each subscriber
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
WITH pos AS MATERIALIZED (
    SELECT
        (
            SELECT coalesce(pg_sequence_last_value(p.seqrelid), p.seqstart - 1)
            FROM pg_sequence AS p
            WHERE p.seqrelid = CAST(:push_sequence AS oid)
        ) AS push_last,
        min(coalesce(pg_sequence_last_value(o.seqrelid), o.seqstart - 1)) AS pop_last
    FROM pg_sequence AS o
    WHERE o.seqrelid = ANY (CAST(:pop_sequences AS oid[]))
),
-- The numbers of the list, then those from where the page begins, then those of the slots that are looked at.
list AS MATERIALIZED (
    SELECT
        pos.pop_last,
        greatest(
            CASE CAST(:state AS text) WHEN 'ready' THEN pos.pop_last + 1 ELSE pos.pop_last - {size!int} + 1 END,
            CAST(:above AS bigint) + 1,
            0
        ) AS low,
        least(
            CASE CAST(:state AS text)
                WHEN 'ready' THEN least(pos.push_last, pos.pop_last + {size!int}) ELSE pos.pop_last
            END,
            CAST(:below AS bigint) - 1
        ) AS high
    FROM pos
    WHERE pos.push_last IS NOT NULL
        AND pos.pop_last IS NOT NULL
),
walk AS MATERIALIZED (
    SELECT
        list.pop_last,
        CASE CAST(:down AS int) WHEN 1 THEN greatest(list.low, list.high - CAST(:walk AS int) + 1) ELSE list.low END
            AS low,
        CASE CAST(:down AS int) WHEN 1 THEN list.high ELSE least(list.high, list.low + CAST(:walk AS int) - 1) END
            AS high,
        list.high - list.low + 1 > CAST(:walk AS int) AS more,
        least(greatest(list.high - list.low + 1, 0), CAST(:walk AS int)) AS slots
    FROM list
),
-- They are in one run of slots, or in two if they cross the ring's end.
found AS MATERIALIZED (
    SELECT
        t.*,
        CASE CAST(:down AS int) WHEN 1 THEN walk.high - t.n ELSE t.n - walk.low END + 1 AS place
    FROM walk
    CROSS JOIN LATERAL (
        VALUES (walk.low, least(walk.high, (walk.low / {size!int} + 1) * {size!int} - 1)),
            ((walk.low / {size!int} + 1) * {size!int}, walk.high)
    ) AS run(low, high)
    CROSS JOIN LATERAL (
        SELECT
            run.low + q.{slot} - run.low % {size!int} AS n,
            CAST(q.{message_id} AS bigint) AS number,
            {enqueued_at?!moment.q} AS enqueued_at,
            CASE
                WHEN pg_column_size({payload?}) > 65536 THEN coalesce(
                    pg_size_pretty(CAST(octet_length({sized?}) AS bigint)),
                    pg_size_pretty(CAST(pg_column_size({payload?}) AS bigint)) || ' stored')
                ELSE left(CAST({payload?} AS text), 200)
            END AS payload
        FROM {table} AS q
        WHERE q.{slot} BETWEEN run.low % {size!int} AND run.high % {size!int}
            AND run.low <= run.high
            AND q.{message_id} IS NOT NULL
            AND CASE WHEN q.{message_id} > walk.pop_last THEN 'ready' ELSE 'in_progress' END = CAST(:state AS text)
        ORDER BY {look!order}
        LIMIT :limit
    ) AS t
    ORDER BY place
    LIMIT :limit
)
SELECT
    CAST(f.number AS text) AS id,
    CAST(:state AS text) AS state,
    CAST(extract(epoch FROM clock_timestamp() - f.enqueued_at) AS float8) AS age_s,
    CAST(NULL AS text) AS owner,
    CAST(NULL AS int) AS attempts,
    coalesce(f.payload) AS payload,
    CAST(NULL AS text) AS error,
    CAST(f.n AS text) AS at,
    1 AS listed,
    CAST(f.place AS int) AS place,
    CAST(walk.slots AS int) AS known,
    CAST(walk.slots AS int) AS looked
FROM walk
CROSS JOIN found AS f
UNION ALL
SELECT
    '',
    CAST(:state AS text),
    CAST(NULL AS float8),
    CAST(NULL AS text),
    CAST(NULL AS int),
    CAST(NULL AS text),
    CAST(NULL AS text),
    CASE WHEN walk.more THEN CAST(CASE CAST(:down AS int) WHEN 1 THEN walk.low ELSE walk.high END AS text) END,
    0,
    CAST(walk.slots AS int),
    CAST(walk.slots AS int),
    CAST(walk.slots AS int)
FROM walk
ORDER BY place, listed DESC
