-- Positions of a ring without turns and the slots around both of them, in one statement; reads at most 2 x :window
-- slots. A slot holds message n if its message id is n. Up to pop_last a slot without its message is one that
-- has been popped, or one whose message is still to come: the two look the same, so the latter are not counted.
-- The numbers behind a position are in one range of slots, or in two at the end of the ring: see "ring".
-- {table}         the ring's table
-- {slot}          column: the slot
-- {message_id}    column: the message in the slot, NULL if it is empty
-- {enqueued_at?}  column: when the message was pushed
-- {size!int}      slots in the ring
-- :push_sequence  id of the push sequence
-- :pop_sequence   id of the pop sequence
-- :window         numbers to look at behind each position, and for the oldest ready message
-- > push_last     last number taken by a producer
-- > pop_last      last number taken by a consumer
-- > push_open     numbers near push_last, beyond pop_last, without a message yet
-- > push_open_ahead the same
-- > pop_waiting   numbers that consumers have taken ahead of all producers
-- > pop_held      numbers up to pop_last with a message that is not popped yet
-- > oldest_s      seconds since the oldest ready message was pushed
WITH pos AS MATERIALIZED (
    SELECT
        coalesce(pg_sequence_last_value(p.seqrelid), p.seqstart - 1) AS push_last,
        coalesce(pg_sequence_last_value(o.seqrelid), o.seqstart - 1) AS pop_last
    FROM pg_sequence AS p, pg_sequence AS o
    WHERE p.seqrelid = CAST(:push_sequence AS oid)
        AND o.seqrelid = CAST(:pop_sequence AS oid)
),
pushes AS MATERIALIZED (
    SELECT run.low + t.slot - run.low % {size!int} AS n, t.number
    FROM pos
    CROSS JOIN LATERAL (
        SELECT
            greatest(pos.push_last - CAST(:window AS bigint) + 1, pos.pop_last + 1, 0) AS low,
            pos.push_last AS high
    ) AS w
    CROSS JOIN LATERAL (
        VALUES (w.low, least(w.high, (w.low / {size!int} + 1) * {size!int} - 1)),
            ((w.low / {size!int} + 1) * {size!int}, w.high)
    ) AS run(low, high)
    CROSS JOIN LATERAL (
        SELECT q.{slot} AS slot, q.{message_id} AS number
        FROM {table} AS q
        WHERE q.{slot} BETWEEN run.low % {size!int} AND run.high % {size!int}
            AND run.low <= run.high
        OFFSET 0
    ) AS t
),
pops AS MATERIALIZED (
    SELECT run.low + t.slot - run.low % {size!int} AS n, t.number
    FROM pos
    CROSS JOIN LATERAL (
        SELECT greatest(pos.pop_last - CAST(:window AS bigint) + 1, 0) AS low, pos.pop_last AS high
    ) AS w
    CROSS JOIN LATERAL (
        VALUES (w.low, least(w.high, (w.low / {size!int} + 1) * {size!int} - 1)),
            ((w.low / {size!int} + 1) * {size!int}, w.high)
    ) AS run(low, high)
    CROSS JOIN LATERAL (
        SELECT q.{slot} AS slot, q.{message_id} AS number
        FROM {table} AS q
        WHERE q.{slot} BETWEEN run.low % {size!int} AND run.high % {size!int}
            AND run.low <= run.high
        OFFSET 0
    ) AS t
)
SELECT
    pos.push_last,
    pos.pop_last,
    (SELECT CAST(count(*) AS int) FROM pushes AS p WHERE p.number IS DISTINCT FROM p.n) AS push_open,
    (SELECT CAST(count(*) AS int) FROM pushes AS p WHERE p.number IS DISTINCT FROM p.n) AS push_open_ahead,
    CAST(greatest(pos.pop_last - pos.push_last, 0) AS int) AS pop_waiting,
    (SELECT CAST(count(*) AS int) FROM pops AS p WHERE p.number = p.n) AS pop_held,
    (
        SELECT t.oldest_s
        FROM (
            SELECT pos.pop_last + 1 AS low, least(pos.push_last, pos.pop_last + CAST(:window AS bigint)) AS high
        ) AS w
        CROSS JOIN LATERAL (
            VALUES (w.low, least(w.high, (w.low / {size!int} + 1) * {size!int} - 1)),
                ((w.low / {size!int} + 1) * {size!int}, w.high)
        ) AS run(low, high)
        CROSS JOIN LATERAL (
            SELECT
                run.low + q.{slot} - run.low % {size!int} AS n,
                CAST(extract(epoch FROM clock_timestamp() - {enqueued_at?!moment}) AS float8) AS oldest_s
            FROM {table} AS q
            WHERE q.{slot} BETWEEN run.low % {size!int} AND run.high % {size!int}
                AND run.low <= run.high
                AND q.{message_id} = run.low + q.{slot} - run.low % {size!int}
            ORDER BY q.{slot}
            LIMIT 1
        ) AS t
        ORDER BY t.n
        LIMIT 1
    ) AS oldest_s
FROM pos
