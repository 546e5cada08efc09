-- Positions of a ring and the slots around both of them, in one statement; reads at most 3 x :window slots. The numbers
-- after a position are in one range of slots, or in two ranges at the end of the ring. Each range is read at once, so
-- that a page with many slots is read once.
-- A slot whose turn is n is free for message n, n + 1 holds it, n + size has been popped: see the design "ring".
-- {table}         the ring's table
-- {slot}          column: the slot
-- {turn}          column: the turn
-- {enqueued_at?}  column: when the message was pushed
-- {size!int}      slots in the ring
-- :push_sequence  id of the push sequence
-- :pop_sequence   id of the pop sequence
-- :window         numbers to look at behind each position, and for the oldest ready message
-- > push_last     last number taken by a producer
-- > pop_last      last number taken by a consumer
-- > push_open     numbers near push_last without a message yet
-- > push_open_ahead numbers beyond pop_last, near push_last, that have no message: not there yet, or skipped as a hole
-- > pop_waiting   numbers up to pop_last that wait for their message
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
    SELECT run.low + t.slot - run.low % {size!int} AS n, t.turn, pos.pop_last
    FROM pos
    CROSS JOIN LATERAL (
        SELECT greatest(pos.push_last - CAST(:window AS bigint) + 1, 0) AS low, pos.push_last AS high
    ) AS w
    CROSS JOIN LATERAL (
        VALUES (w.low, least(w.high, (w.low / {size!int} + 1) * {size!int} - 1)),
            ((w.low / {size!int} + 1) * {size!int}, w.high)
    ) AS run(low, high)
    CROSS JOIN LATERAL (
        SELECT q.{slot} AS slot, q.{turn} AS turn
        FROM {table} AS q
        WHERE q.{slot} BETWEEN run.low % {size!int} AND run.high % {size!int}
            AND run.low <= run.high
        OFFSET 0
    ) AS t
),
pops AS MATERIALIZED (
    SELECT run.low + t.slot - run.low % {size!int} AS n, t.turn
    FROM pos
    CROSS JOIN LATERAL (
        SELECT greatest(pos.pop_last - CAST(:window AS bigint) + 1, 0) AS low, pos.pop_last AS high
    ) AS w
    CROSS JOIN LATERAL (
        VALUES (w.low, least(w.high, (w.low / {size!int} + 1) * {size!int} - 1)),
            ((w.low / {size!int} + 1) * {size!int}, w.high)
    ) AS run(low, high)
    CROSS JOIN LATERAL (
        SELECT q.{slot} AS slot, q.{turn} AS turn
        FROM {table} AS q
        WHERE q.{slot} BETWEEN run.low % {size!int} AND run.high % {size!int}
            AND run.low <= run.high
        OFFSET 0
    ) AS t
)
SELECT
    pos.push_last,
    pos.pop_last,
    (SELECT CAST(count(*) AS int) FROM pushes AS p WHERE p.turn <= p.n) AS push_open,
    (SELECT CAST(count(*) AS int) FROM pushes AS p WHERE p.turn <> p.n + 1 AND p.n > p.pop_last) AS push_open_ahead,
    (SELECT CAST(count(*) AS int) FROM pops AS p WHERE p.turn <= p.n) AS pop_waiting,
    (SELECT CAST(count(*) AS int) FROM pops AS p WHERE p.turn = p.n + 1) AS pop_held,
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
                AND q.{turn} = run.low + q.{slot} - run.low % {size!int} + 1
            ORDER BY q.{slot}
            LIMIT 1
        ) AS t
        ORDER BY t.n
        LIMIT 1
    ) AS oldest_s
FROM pos
