-- Positions of a ring that several subscribers read and the slots around them, in one statement: the position of the
-- producers, and the position of the slowest subscriber, because a slot is free again when the last subscriber has read
-- it. Reads at most :window slots per position, and as many after the position of the slowest subscriber.
-- A slot whose turn is n is free for message n, n + 1 holds it for the subscribers in "unread", n + size has been read
-- by all. The numbers behind a position are in one range of slots, or in two at the end of the ring: see "ring".
-- {table}         the ring's table
-- {slot}          column: the slot
-- {turn}          column: the turn
-- {unread}        column: subscribers that have not read it yet, subscriber k as bit k - 1
-- {enqueued_at?}  column: when the message was pushed
-- {size!int}      slots in the ring
-- :push_sequence  id of the push sequence
-- :pop_sequences  ids of the subscribers' pop sequences as an array, {1,2}, in their order
-- :window         numbers to look at behind each position, and for the oldest ready message
-- > push_last     last number taken by a producer
-- > pop_last      last number taken by a consumer of that subscriber
-- > push_open     numbers near push_last without a message yet
-- > push_open_ahead numbers beyond pop_last, near push_last, that have no message for it: not there yet, or skipped
-- > pop_waiting   numbers up to pop_last that wait for their message
-- > pop_held      numbers up to pop_last with a message that the subscriber has not read yet
-- > oldest_s      seconds since the oldest message that it has not taken was pushed
WITH pos AS MATERIALIZED (
    SELECT
        coalesce(pg_sequence_last_value(p.seqrelid), p.seqstart - 1) AS push_last,
        coalesce(pg_sequence_last_value(o.seqrelid), o.seqstart - 1) AS pop_last,
        CAST(1 AS bigint) << CAST(r.number - 1 AS int) AS own
    FROM unnest(CAST(:pop_sequences AS oid[])) WITH ORDINALITY AS r(id, number)
    JOIN pg_sequence AS o ON o.seqrelid = r.id
    JOIN pg_sequence AS p ON p.seqrelid = CAST(:push_sequence AS oid)
),
behind AS MATERIALIZED (
    SELECT pos.push_last, pos.pop_last, pos.own, w.waiting, w.held
    FROM pos
    CROSS JOIN LATERAL (
        SELECT
            CAST(count(*) FILTER (WHERE t.turn <= t.n) AS int) AS waiting,
            CAST(count(*) FILTER (WHERE t.turn = t.n + 1 AND t.unread & pos.own <> 0) AS int) AS held
        FROM (
            SELECT greatest(pos.pop_last - CAST(:window AS bigint) + 1, 0) AS low, pos.pop_last AS high
        ) AS w
        CROSS JOIN LATERAL (
            VALUES (w.low, least(w.high, (w.low / {size!int} + 1) * {size!int} - 1)),
                ((w.low / {size!int} + 1) * {size!int}, w.high)
        ) AS run(low, high)
        CROSS JOIN LATERAL (
            SELECT
                run.low + q.{slot} - run.low % {size!int} AS n,
                q.{turn} AS turn,
                CAST(q.{unread} AS bigint) AS unread
            FROM {table} AS q
            WHERE q.{slot} BETWEEN run.low % {size!int} AND run.high % {size!int}
                AND run.low <= run.high
            OFFSET 0
        ) AS t
    ) AS w
    ORDER BY pos.pop_last - w.waiting - w.held, pos.pop_last, pos.own
    LIMIT 1
),
pushes AS MATERIALIZED (
    SELECT run.low + t.slot - run.low % {size!int} AS n, t.turn, t.unread, b.pop_last
    FROM behind AS b
    CROSS JOIN LATERAL (
        SELECT greatest(b.push_last - CAST(:window AS bigint) + 1, 0) AS low, b.push_last AS high
    ) AS w
    CROSS JOIN LATERAL (
        VALUES (w.low, least(w.high, (w.low / {size!int} + 1) * {size!int} - 1)),
            ((w.low / {size!int} + 1) * {size!int}, w.high)
    ) AS run(low, high)
    CROSS JOIN LATERAL (
        SELECT q.{slot} AS slot, q.{turn} AS turn, CAST(q.{unread} AS bigint) AS unread
        FROM {table} AS q
        WHERE q.{slot} BETWEEN run.low % {size!int} AND run.high % {size!int}
            AND run.low <= run.high
        OFFSET 0
    ) AS t
)
SELECT
    b.push_last,
    b.pop_last,
    (SELECT CAST(count(*) AS int) FROM pushes AS p WHERE p.turn <= p.n) AS push_open,
    (
        SELECT CAST(count(*) AS int)
        FROM pushes AS p
        WHERE p.n > p.pop_last
            AND (p.turn <> p.n + 1 OR p.unread & b.own = 0)
    ) AS push_open_ahead,
    b.waiting AS pop_waiting,
    b.held AS pop_held,
    (
        SELECT t.oldest_s
        FROM (
            SELECT b.pop_last + 1 AS low, least(b.push_last, b.pop_last + CAST(:window AS bigint)) AS high
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
                AND CAST(q.{unread} AS bigint) & b.own <> 0
            ORDER BY q.{slot}
            LIMIT 1
        ) AS t
        ORDER BY t.n
        LIMIT 1
    ) AS oldest_s
FROM behind AS b
